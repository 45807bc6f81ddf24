"""This package stores each assembly as a record: writing, reading, replay, sealing, retention and export."""
