"""The home app composes pages from all apps: the start page, agents, teams and drafts."""
