"""Organisation knowledge is Markdown files that admins of the organisation write and all its agents may read."""
