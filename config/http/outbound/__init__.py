"""Requests to other servers, with limits and without access to private networks."""
