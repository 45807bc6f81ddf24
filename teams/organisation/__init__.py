"""Organisation knowledge: Markdown files of the whole organisation, which its admins write and all agents may read."""
