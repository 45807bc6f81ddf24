"""Trends: what became of many contexts, counted by day as they are recorded."""
