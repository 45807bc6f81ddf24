"""Recorded contexts that told the wrong value: they are what was told, and stay; those who got them can be informed."""

from typing import Any

from assembly.models import Piece
from config.db.statements import fetch_rows
from privacy.corrections.corrected_text import ValueCorrection
from privacy.models import MentionStatus, Subject, SubjectMention
from privacy.subjects.recorded_texts import recorded_texts, thing_of

TOLD_SQL = """
SELECT agent_id, max(agent_name), count(*), max(created) FROM assemblies WHERE told && %(pieces)s::bigint[]
GROUP BY agent_id ORDER BY count(*) DESC, agent_id
"""


def told_contexts(subject: Subject, value: ValueCorrection) -> dict[str, Any]:
    """Return the number of recorded contexts that told the wrong value, and the agents that they were for, as JSON.

    All recorded texts are read. Those count that come from things which are linked to the subject, and those that were
    stored with a linked context alone.
    """
    pieces = _pieces_with(subject, value)
    rows = fetch_rows(TOLD_SQL, {"pieces": pieces}) if pieces else []
    recipients = [
        {"agent": str(agent), "name": name, "contexts": contexts, "last_at": last.isoformat()}
        for agent, name, contexts, last in rows
    ]
    return {"contexts": sum(one["contexts"] for one in recipients), "recipients": recipients}


def _pieces_with(subject: Subject, value: ValueCorrection) -> list[int]:
    linked = SubjectMention.objects.filter(subject=subject, status=MentionStatus.LINKED)
    things = set(linked.values_list("thing", flat=True))
    alone = {piece for pieces in linked.filter(ref_kind="context").values_list("pieces", flat=True) for piece in pieces}
    found: list[int] = []
    after: bytes | None = b""
    while after is not None:
        texts, after = recorded_texts(after, None)
        wrong = [sha256 for sha256, text in texts.items() if value.replacements(text)]
        rows = Piece.objects.filter(text_sha256__in=wrong).values_list("id", "named") if wrong else []
        found += [
            id_
            for id_, named in rows
            if id_ in alone or ((at := thing_of(named.removeprefix("summary:"))) and at[1] in things)
        ]
    return sorted(found)
