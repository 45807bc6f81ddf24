"""A rerun assembles a recorded request again today."""
