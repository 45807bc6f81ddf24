"""Recall tests say what contexts must and must not include, and are run before a change takes effect."""
