"""Masking replaces personal data in texts by placeholders: see README.md. Pure."""
