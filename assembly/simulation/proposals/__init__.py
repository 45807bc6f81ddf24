"""Proposals are suggested changes to a context, which an editor accepts or dismisses."""
