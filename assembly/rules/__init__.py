"""Rules: what people decided that contexts always hold, hold rather, or never hold."""
