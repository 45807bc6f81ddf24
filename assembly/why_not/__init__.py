"""Why-not explains why an item is missing from a context, and finds the smallest change that would include it."""
