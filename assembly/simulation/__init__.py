"""Simulations assemble contexts that are never recorded."""
