"""Subjects: people about whom things are stored."""
