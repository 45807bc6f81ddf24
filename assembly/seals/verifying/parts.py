"""Whether pieces and texts are what their hashes say. Records name their pieces by hash, pieces name their texts."""

from collections.abc import Iterator

from django.db import connection

from assembly.comparing import named
from assembly.models import Piece
from assembly.pieces import ID_BYTES, piece_hash
from assembly.seals.verifying.findings import Finding, Kind, Tally

CHUNK = 1_000

# PostgreSQL's own sha256, of the text in UTF-8: each text is looked at once, however many pieces have it.
ALTERED = "SELECT encode(sha256, 'hex') FROM stored_texts WHERE sha256 <> sha256(convert_to(text, 'UTF8'))"
MISSING = """
SELECT DISTINCT encode(text_sha256, 'hex') FROM pieces
    WHERE NOT EXISTS (SELECT FROM stored_texts WHERE stored_texts.sha256 = pieces.text_sha256)
"""


def piece_findings(tally: Tally) -> Iterator[Finding]:
    """Pieces that are not what their hashes say."""
    for piece in Piece.objects.order_by().iterator(chunk_size=CHUNK):
        tally.pieces += 1
        if not _is_whole(piece):
            sentence = f"The piece {piece.id} ({piece.ref}) is not what its own hash says."
            yield Finding(Kind.PIECE_ALTERED, str(piece.id), sentence)


def text_findings() -> Iterator[Finding]:
    """Texts that are not what their hashes say, or not there."""
    for sha256 in _hashes(ALTERED):
        yield Finding(Kind.TEXT_ALTERED, sha256, f"The text {sha256} is not what its own hash says.")
    for sha256 in _hashes(MISSING):
        yield Finding(Kind.TEXT_MISSING, sha256, f"The text {sha256} is gone, and records are made of it.")


def _is_whole(piece: Piece) -> bool:
    sha256 = bytes(piece.sha256)
    ids = {int.from_bytes(sha256[at : at + ID_BYTES], signed=True) for at in range(0, len(sha256), ID_BYTES)}
    of_itself = piece_hash(piece.ref, bytes(piece.text_sha256), piece.facts)
    return of_itself == sha256 and piece.id in ids and piece.named == named(piece.ref)


def _hashes(select: str) -> Iterator[str]:
    with connection.chunked_cursor() as cursor:
        cursor.execute(select)
        yield from (sha256 for (sha256,) in cursor)
