"""Seals: a chain of hashes over all records, in the order in which they became visible; and checking it."""
