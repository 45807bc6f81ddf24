"""The activity log records administrative acts: who changed accounts, roles, keys, settings, and who took data out."""
