"""Proposals are changes of files that somebody suggests and an editor accepts or declines."""
