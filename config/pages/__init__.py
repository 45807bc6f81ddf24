"""Pages that show several apps together."""
