"""This package imports texts, conversations and records that other programs wrote."""
