"""The report of an erasure says place by place what was found and destroyed, in numbers, and is sealed in the chain.

It has no texts and no spellings. `sha256` of an erasure is the hash of the report as canonical JSON; the same JSON is
in the last row of `record_erasures`, which a seal holds.
"""

import hashlib
from typing import Any

from django.db import transaction
from django.utils import timezone

from assembly.models import RecordErasure
from assembly.records.seal_hashing import canonical_json, timestamp
from assembly.records.seals import erasure_seal
from privacy.erasure.places import EMPTIED_REASON, PLACES, Treatment
from privacy.erasure.record_keys import BODIES, TEXTS
from privacy.erasure.records import erased_parts
from privacy.erasure.table_rewrite import write_ahead
from privacy.models import ErasureState, SubjectErasure

FORM = 1


def report_of(erasure: SubjectErasure) -> dict[str, Any]:
    """Return the report of an erasure whose steps are all done, as JSON values."""
    found = erasure.steps.get("found", {})
    rewritten = {name.partition(":")[2]: one["outcome"] for name, one in found.items() if name.startswith("rewrite:")}
    return {
        "form": FORM,
        "id": str(erasure.id),
        "number": erasure.number,
        "subject": str(erasure.subject_id),
        "requested_by": erasure.requested_by,
        "requested_at": timestamp(erasure.created),
        "completed_at": timestamp(timezone.now()),
        **({"repeats": erasure.repeats} if erasure.repeats else {}),
        "rounds": erasure.steps.get("rounds", 1),
        "things": found.get("things", {}),
        "unpacked": found.get("unpack", {}).get("unpacked", 0),
        "places": [one for place in PLACES if (one := _place_line(place.table, place.treatment, found))],
        "records": erased_parts(erasure),
        "keys": _keys_line(found.get("keys", {})),
        "subject_rows": found.get("subject", {}),
        "caches": found.get("caches", {}),
        "rewritten": rewritten,
        "search": erasure.steps.get("search", {}),
        "write_ahead": erasure.steps.get("write_ahead", {}),
    }


def _place_line(table: str, treatment: Treatment, found: dict[str, Any]) -> dict[str, Any] | None:
    if f"place:{table}" not in found:
        return None
    rows = found[f"place:{table}"].get("rows", 0)
    line = {"place": table, "treatment": treatment.value, "found": rows, "destroyed": rows}
    return {**line, "note": EMPTIED_REASON} if treatment is Treatment.EMPTIED else line


def _keys_line(found: dict[str, int]) -> dict[str, Any]:
    """Return how many keys were destroyed, by the table of what they encrypted; those of bodies also by agent."""
    agents = {name.partition(":")[2]: number for name, number in found.items() if name.startswith("agent:")}
    return {
        "destroyed": found.get(TEXTS, 0) + found.get(BODIES, 0),
        "places": {TEXTS: found.get(TEXTS, 0), BODIES: found.get(BODIES, 0)},
        "agents": agents,
    }


def report_seal(erasure: SubjectErasure) -> None:
    """Store the report, add it to the chain of seals, and forget what was looked for."""
    if "write_ahead" not in erasure.steps:
        erasure.steps = {**erasure.steps, "write_ahead": write_ahead().document()}
    with transaction.atomic():
        erasure.report = report_of(erasure)
        text = canonical_json(erasure.report)
        erasure.sha256 = hashlib.sha256(text).digest()
        erasure.sealed_spellings, erasure.whole, erasure.spared, erasure.vectors = "", [], [], []
        erasure.state, erasure.completed_at = ErasureState.FINISHED, timezone.now()
        erasure.save()
        last = RecordErasure(
            created=timezone.now(),
            erasure=erasure.id,
            number=erasure.number,
            by_ref=erasure.requested_by,
            report=text.decode(),
        )
        last.save(force_insert=True)
        erasure_seal(last)
