"""Time travel: what an agent would have been told at a moment that has passed."""
