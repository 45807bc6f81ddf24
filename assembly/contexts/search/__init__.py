"""This package searches contexts among millions, with criteria and visibility, and returns pages, newest first."""
