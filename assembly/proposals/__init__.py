"""Proposals: what should be different in contexts, kept for those who may decide."""
