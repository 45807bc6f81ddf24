"""Masking replaces personal data in texts by placeholders (docs/privacy.md). Pure: no database, no framework."""
