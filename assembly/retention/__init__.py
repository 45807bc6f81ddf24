"""Keeping records: for how long, which ones on purpose, and pruning those whose time is over."""
