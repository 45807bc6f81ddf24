"""Records store each assembly for good: writing, reading, replaying, sealing, retention and export."""
