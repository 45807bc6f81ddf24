"""Time travel assembles a context from the data of an earlier moment."""
