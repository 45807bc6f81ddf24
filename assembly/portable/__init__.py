"""Records as a zip of JSON: with all that a replay needs, and the proof of their seals. Read without a database.

docs/audit/keeping.md says what is in it.
"""
