"""Imports of texts, conversations and records that other programs wrote."""
