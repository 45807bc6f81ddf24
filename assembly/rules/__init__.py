"""Context rules are decisions of people about what contexts always include, prefer, or never include."""
