"""Profiles are the strategies by which contexts are assembled: shipped with Dossier, or written by admins."""
