"""A graph of entities as a picture: where its nodes stand, their shapes, their names. Pure."""
