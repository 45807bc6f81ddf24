"""This package has logs, traces, metrics, and the properties of the current request."""
