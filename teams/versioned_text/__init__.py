"""Texts with versions: files, drafts, merging, and the pages that show, edit and restore them."""
