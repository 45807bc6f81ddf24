"""The editor of a versioned text: drafts, conflicts, publishing."""
