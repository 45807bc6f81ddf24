"""Why is something not in a context? What became of it, what beat it, and which smallest change would bring it in."""
