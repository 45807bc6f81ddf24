"""Embedding models, the vectors they make, and switching from one to another."""
