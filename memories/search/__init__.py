"""This package searches memories, passages of documents, events, patterns, tasks and the graph."""
