"""The pipeline answers one request for a context: it prepares, gathers candidates, runs the engine, and records."""
