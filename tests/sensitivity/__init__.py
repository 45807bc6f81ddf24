"""Sensitivity and clearance: who is told what, shown by a marker in one restricted thing of every kind."""
