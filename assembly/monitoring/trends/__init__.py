"""Trends are counts of contexts over time."""
