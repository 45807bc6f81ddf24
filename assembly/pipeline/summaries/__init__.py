"""Summaries come from the bundled extractive summariser or from a model on a configured server."""
