"""Differences of texts: aligned words and blocks, as HTML."""
