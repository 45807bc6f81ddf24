"""What a bundle of records is made of: a few files of JSON, one object per line."""

FORMAT, VERSION = "dossier-records", 1
ABOUT = "about.json"
RECORDS = "records.jsonl"
PIECES = "pieces.jsonl"
TEXTS = "texts.jsonl"
SEALS = "seals.jsonl"
LINKS = "links.jsonl"
FILES = (ABOUT, RECORDS, PIECES, TEXTS, SEALS, LINKS)
MAX_BYTES = 200_000_000
"""Of all files together, unpacked: a bundle is held in memory when it is read."""
