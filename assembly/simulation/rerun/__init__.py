"""A rerun assembles a recorded request for this moment."""
