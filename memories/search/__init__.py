"""Search: memories, passages of documents, events, the graph."""
