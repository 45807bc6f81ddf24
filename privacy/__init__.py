"""Subjects are people about whom things are stored; what mentions them is found, shown, restricted and corrected."""
