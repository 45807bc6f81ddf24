"""A what-if assembles a recorded request again with other settings, rules or files."""
