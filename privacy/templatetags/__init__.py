"""Template tags of subjects."""
