"""Contexts made again: today, with something changed, beside one another."""
