"""Texts above internal are sealed in their columns: fields that seal and open them, and what is sealed with a row."""
