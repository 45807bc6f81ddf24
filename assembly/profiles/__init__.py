"""Profiles define how contexts are assembled. They are built in, or written by admins."""
