"""Alerts: said once when something that a context should have is cut or missing, and taken back when it is there."""
