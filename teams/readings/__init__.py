"""The reading log: each reading by a person of something confidential or restricted is a line that is never changed."""
