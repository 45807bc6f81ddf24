"""This package summarises texts, by the bundled extractive summariser or a model on a configured server."""
