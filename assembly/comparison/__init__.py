"""Comparison says how two contexts differ and why, and reruns a recorded request today."""
