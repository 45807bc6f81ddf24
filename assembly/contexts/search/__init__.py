"""This search finds contexts among millions: criteria, visibility, and pages with the newest first."""
