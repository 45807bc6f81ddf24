"""Texts that recorded contexts considered are searched, too, and lead to the things that they came from.

A text is recorded once, however many contexts considered it. What it came from may have another text by now, or be
deleted; texts of requests, such as turns, are stored nowhere else. These lead to the contexts themselves.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from assembly.engine.refs import Ref
from assembly.models import Piece, StoredText
from assembly.models.encryption import ErasedText, read_texts
from config.db.statements import fetch_rows
from privacy.subjects.spellings import Spellings
from privacy.subjects.stored_texts import existing_owners

ROWS_PER_BATCH = 500
KINDS_OF_PASSAGES = {"chunk": "document"}

# What was considered since, each text once, in the order of its hash.
TEXTS_SINCE_SQL = """
SELECT text.sha256, text.text, text.sealed FROM stored_texts AS text
WHERE text.sha256 > %(after)s AND text.sha256 IN (
    SELECT piece.text_sha256 FROM pieces AS piece WHERE piece.id IN (
        SELECT unnest(told || omitted) FROM assemblies WHERE created >= %(since)s
    )
)
ORDER BY text.sha256 LIMIT %(most)s
"""
CONTEXTS_SQL = """
SELECT id, agent_id, team_id FROM assemblies WHERE told && %(pieces)s::bigint[] OR omitted && %(pieces)s::bigint[]
"""


@dataclass(slots=True)
class RecordedFinding:
    """Spellings in recorded texts of one thing, or of one context; `pieces` are the ids of the pieces with them."""

    kind: str
    thing: UUID
    agent_id: UUID | None
    team_id: UUID | None
    spellings: set[str] = field(default_factory=set)
    pieces: set[int] = field(default_factory=set)


def recorded_texts(after: bytes, since: datetime | None) -> tuple[dict[bytes, str], bytes | None]:
    """Return the next recorded texts after this hash, of those considered from `since` on, and the hash of the last.

    The hash is None behind the last text.
    """
    if since:
        rows = fetch_rows(TEXTS_SINCE_SQL, {"after": after, "since": since, "most": ROWS_PER_BATCH})
    else:
        found = StoredText.objects.filter(sha256__gt=after).order_by("sha256")
        rows = list(found.values_list("sha256", "text", "sealed")[:ROWS_PER_BATCH])
    texts = read_texts(rows)
    readable = {sha256: text for sha256, text in texts.items() if not isinstance(text, ErasedText)}
    return readable, max(texts) if len(texts) == ROWS_PER_BATCH else None


def recorded_findings(texts: dict[bytes, str], spellings: Spellings) -> list[RecordedFinding]:
    """Return the things that exist, and the contexts, whose recorded texts have the spellings."""
    found = {sha256: at for sha256, text in texts.items() if (at := spellings.found_in([text]))}
    if not found:
        return []
    rows = Piece.objects.filter(text_sha256__in=found).values_list("id", "named", "text_sha256")
    pieces = [(id_, named, bytes(sha256)) for id_, named, sha256 in rows]
    findings = {finding.thing: finding for finding in _findings_of_things(pieces)}
    orphans: dict[int, bytes] = {}
    for id_, named, sha256 in pieces:
        thing = thing_of(named)
        if thing and thing[1] in findings:
            findings[thing[1]].spellings |= found[sha256]
            findings[thing[1]].pieces.add(id_)
        else:
            orphans[id_] = sha256
    return [*findings.values(), *_contexts_with(orphans, found)]


def _findings_of_things(pieces: Iterable[tuple[int, str, bytes]]) -> Iterator[RecordedFinding]:
    ids = defaultdict[str, set[UUID]](set)
    for _id, named, _sha256 in pieces:
        if thing := thing_of(named):
            ids[thing[0]].add(thing[1])
    for kind, things in ids.items():
        for id_, owners in existing_owners(kind, sorted(things)).items():
            yield RecordedFinding(kind, id_, *owners)


def thing_of(named: str) -> tuple[str, UUID] | None:
    """Return the kind and id of the thing from which a piece came; None where it is no stored thing."""
    ref = Ref.parse(named)
    try:
        return KINDS_OF_PASSAGES.get(ref.kind, ref.kind), UUID(ref.id)
    except ValueError:
        return None


def _contexts_with(orphans: dict[int, bytes], found: dict[bytes, set[str]]) -> Iterator[RecordedFinding]:
    """Yield the contexts that considered pieces of what is stored nowhere else."""
    for piece, sha256 in orphans.items():
        rows: Sequence[tuple[UUID, UUID, UUID | None]] = fetch_rows(CONTEXTS_SQL, {"pieces": [piece]})
        for id_, agent_id, team_id in rows:
            yield RecordedFinding("context", id_, agent_id, team_id, set(found[sha256]), {piece})
