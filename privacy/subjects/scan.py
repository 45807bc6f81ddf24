"""A scan finds what mentions a subject: it reads all stored texts, or those changed since the last scan, in a job.

A subject is scanned as a whole when it is created or its identifiers change, and when an admin asks for it. Every day,
the hourly task scans what changed. A job that was interrupted goes on where it was.
"""

import datetime
from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

import orjson
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from uuid_utils.compat import uuid7

from config.db.statements import execute_sql, fetch_rows
from memories.jobs.periodic import periodic
from memories.jobs.services import UNFINISHED, Advance, job_create, job_kind
from memories.models import Job
from privacy.models import MentionStatus, Subject, SubjectCorrection, SubjectMention, SubjectScan
from privacy.subjects.recorded_texts import RecordedFinding, recorded_findings, recorded_texts
from privacy.subjects.spellings import Spellings, spellings_of
from privacy.subjects.stored_texts import TextTable, existing_owners, text_tables
from teams.principal import SYSTEM, Principal

FIND_MENTIONS = "find_subject_mentions"
RECORDS = "recorded texts"
"""The name of the last step of a scan, which reads what contexts considered."""
HOUR_SECONDS = 3_600
RESCAN_AFTER = datetime.timedelta(hours=23)
SCAN_RETENTION = datetime.timedelta(days=90)
OVERLAP = datetime.timedelta(minutes=10)
"""A scan of changes begins this long before the scan before it, for transactions that were committed meanwhile."""

# In the first finding of a scan, the spellings are replaced, and after that added to. A dismissed thing is to be
# reviewed again if it has a spelling that it had not.
STORE_SQL = """
INSERT INTO subject_mentions AS old
    (id, subject_id, ref_kind, thing, agent_id, team_id, spellings, pieces, status, contexts, scan, found_at,
     decided_by, decider_name)
SELECT new.id, %(subject)s, new.ref_kind, new.thing, new.agent_id, new.team_id, new.spellings, new.pieces, 'found', 0,
    %(scan)s, now(), '', ''
FROM jsonb_to_recordset(%(found)s::jsonb) AS new
    (id uuid, ref_kind text, thing uuid, agent_id uuid, team_id uuid, spellings text[], pieces bigint[])
ON CONFLICT (subject_id, thing) DO UPDATE SET
    spellings = CASE WHEN %(replaces)s AND old.scan IS DISTINCT FROM excluded.scan THEN excluded.spellings
        ELSE ARRAY(SELECT DISTINCT unnest(old.spellings || excluded.spellings) ORDER BY 1) END,
    pieces = CASE WHEN %(replaces)s AND old.scan IS DISTINCT FROM excluded.scan THEN excluded.pieces
        ELSE ARRAY(SELECT DISTINCT unnest(old.pieces || excluded.pieces) ORDER BY 1) END,
    agent_id = excluded.agent_id, team_id = excluded.team_id,
    status = CASE WHEN old.status = 'dismissed' AND NOT old.spellings @> excluded.spellings THEN 'found'
        ELSE old.status END,
    scan = excluded.scan
RETURNING old.xmax = 0
"""
COUNT_CONTEXTS_SQL = """
UPDATE subject_mentions AS mention SET contexts = counted.contexts FROM (
    SELECT one.id, (SELECT count(*) FROM assemblies WHERE told && one.pieces) AS contexts
    FROM subject_mentions AS one WHERE one.subject_id = %(subject)s AND one.pieces <> '{}' AND one.ref_kind <> 'context'
) AS counted WHERE counted.id = mention.id AND counted.contexts <> mention.contexts
"""


@transaction.atomic
def subject_scan_create(
    *, subject: Subject, principal: Principal, since: datetime.datetime | None = None
) -> SubjectScan:
    """Create a scan of the subject with its job, and return it. Unfinished scans of the subject end without a result.

    `since` limits it to what changed from then on.
    """
    now = timezone.now()
    SubjectScan.objects.filter(subject=subject).filter(
        Q(finished_at=None) | Q(created__lt=now - SCAN_RETENTION)
    ).delete()
    scan = SubjectScan.objects.create(subject=subject, since=since, requested_by=principal.ref)
    steps = len(text_tables(changed_only=since is not None)) + 1
    scan.job = job_create(
        kind=FIND_MENTIONS, arguments={"scan": str(scan.id)}, agent=None, principal=principal, steps=steps
    )
    scan.save(update_fields=["job"])
    return scan


@periodic(HOUR_SECONDS, "subjects")
def subjects_rescan() -> None:
    """Create a scan of what changed, for each subject whose last scan is about a day ago."""
    due = Subject.objects.filter(erased_at=None, scanned_at__lt=timezone.now() - RESCAN_AFTER)
    busy = SubjectScan.objects.filter(finished_at=None, job__status__in=UNFINISHED)
    for subject in due.exclude(id__in=busy.values("subject_id")):
        assert subject.scanned_at  # noqa: S101 - the filter above
        subject_scan_create(subject=subject, principal=SYSTEM, since=subject.scanned_at - OVERLAP)


@job_kind(FIND_MENTIONS)
def find_mentions(job: Job, advance: Advance) -> None:
    """Run the scan that the job names; nothing happens if it was deleted, or is finished."""
    scan = SubjectScan.objects.select_related("subject").filter(id=job.arguments["scan"], finished_at=None).first()
    if scan is None or scan.subject.erased_at:
        return
    spellings = spellings_of(sought_identifiers(scan.subject))
    tables = text_tables(changed_only=scan.since is not None)
    names = [*(table.name for table in tables), RECORDS]
    begun = names.index(scan.place.get("table", names[0]))
    advance(begun)
    for table in tables[begun:]:
        _scan_table(scan, table, spellings, advance)
        advance(1)
    _scan_records(scan, spellings, advance)
    _finish(scan)


def sought_identifiers(subject: Subject) -> list[tuple[str, str]]:
    """Return the kinds and values of the identifiers, and of former ones, which histories and records still have."""
    former = SubjectCorrection.objects.filter(subject=subject, was_identifier=True)
    return [*subject.identifiers.values_list("kind", "value"), *former.values_list("kind", "wrong")]


def _scan_table(scan: SubjectScan, table: TextTable, spellings: Spellings, advance: Advance) -> None:
    after = _place_in(scan, table.name)
    last = UUID(after) if after else None
    while True:
        rows, last = table.batch(last, scan.since)
        found = [
            RecordedFinding(table.kind.name, row.thing, row.agent_id, row.team_id, at)
            for row in rows
            if (at := spellings.found_in(row.texts))
        ]
        _store(scan, found, len(rows), {"table": table.name, "after": str(last or "")})
        advance(0)
        if last is None:
            return


def _scan_records(scan: SubjectScan, spellings: Spellings, advance: Advance) -> None:
    last: bytes | None = bytes.fromhex(_place_in(scan, RECORDS))
    while last is not None:
        texts, last = recorded_texts(last, scan.since)
        found = recorded_findings(texts, spellings)
        _store(scan, found, len(texts), {"table": RECORDS, "after": last.hex() if last else ""})
        advance(0)


def _place_in(scan: SubjectScan, table: str) -> str:
    """Return after which row an interrupted scan goes on in the table."""
    return str(scan.place.get("after", "")) if scan.place.get("table") == table else ""


@transaction.atomic
def _store(scan: SubjectScan, found: Iterable[RecordedFinding], texts: int, place: dict[str, str]) -> None:
    """Store the findings of a batch together with the place at which the scan goes on."""
    new = 0
    if merged := _merged(found):
        facts = {
            "subject": scan.subject_id,
            "scan": scan.id,
            "replaces": scan.since is None,
            "found": orjson.dumps([_row_of(finding) for finding in merged.values()]).decode(),
        }
        new = sum(is_new for (is_new,) in fetch_rows(STORE_SQL, facts))
    scan.place = place
    SubjectScan.objects.filter(id=scan.id).update(place=place, texts=F("texts") + texts, found=F("found") + new)


def _merged(found: Iterable[RecordedFinding]) -> dict[UUID, RecordedFinding]:
    """Return the findings by thing: several versions of a thing may be in one batch."""
    merged: dict[UUID, RecordedFinding] = {}
    for finding in found:
        known = merged.setdefault(finding.thing, finding)
        known.spellings |= finding.spellings
        known.pieces |= finding.pieces
    return merged


def _row_of(finding: RecordedFinding) -> dict[str, Any]:
    return {
        "id": uuid7(),
        "ref_kind": finding.kind,
        "thing": finding.thing,
        "agent_id": finding.agent_id,
        "team_id": finding.team_id,
        "spellings": sorted(finding.spellings),
        "pieces": sorted(finding.pieces),
    }


@transaction.atomic
def _finish(scan: SubjectScan) -> None:
    """Delete what a scan of everything did not find again, count the contexts, and end the scan."""
    if scan.since is None:
        missed = SubjectMention.objects.filter(subject_id=scan.subject_id).exclude(scan=scan.id)
        missed.filter(status=MentionStatus.FOUND).delete()
        missed.filter(id__in=[*_mentions_of_nothing(missed)]).delete()
    execute_sql(COUNT_CONTEXTS_SQL, {"subject": scan.subject_id})
    Subject.objects.filter(id=scan.subject_id).update(scanned_at=scan.created)
    SubjectScan.objects.filter(id=scan.id).update(finished_at=timezone.now())


def _mentions_of_nothing(mentions: Any) -> Iterator[UUID]:
    """Yield the ids of the mentions whose things do not exist any more."""
    by_kind: dict[str, dict[UUID, UUID]] = {}
    for id_, kind, thing in mentions.values_list("id", "ref_kind", "thing"):
        by_kind.setdefault(kind, {})[thing] = id_
    for kind, things in by_kind.items():
        there = existing_owners(kind, [*things])
        yield from (id_ for thing, id_ in things.items() if thing not in there)
