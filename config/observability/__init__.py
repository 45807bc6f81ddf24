"""Logs, traces, metrics, and what the current request is."""
