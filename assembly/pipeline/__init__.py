"""The pipeline takes one request to its answer: prepare, gather, engine, record."""
