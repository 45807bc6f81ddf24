"""This package shows assemblies to people as contexts: list, search, pages of one context, exports and REST API."""
