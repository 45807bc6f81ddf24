"""This package has everything about versioned texts: files, drafts, merging, and their pages."""
