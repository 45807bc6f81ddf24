"""Alerts open when new contexts show a problem, and close when it is gone."""
