"""A draft preview shows how unpublished texts would change the contexts of agents."""
