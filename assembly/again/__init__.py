"""Recorded contexts made again: today, with something changed, and beside one another."""
