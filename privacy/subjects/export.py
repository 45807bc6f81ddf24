"""Everything that is linked to a subject is written into a ZIP file, to hand over to the person (GDPR, article 15).

`index.html` is for people, `data.json` for programs. Both have each linked thing with all its versions, where it comes
from, its sensitivity and dates, the recorded contexts that told any of them, and what else is stored about the person
in other tables: see `privacy.subjects.further_rows`. Small files are written at once, others by a job. A file is
deleted a day after it was requested.
"""

import datetime
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from io import BytesIO
from typing import Any
from uuid import UUID

import orjson
from django.db import transaction
from django.template.loader import render_to_string
from django.utils import timezone

from assembly.models import Assembly, Piece, StoredText
from assembly.models.encryption import ErasedText, read_texts
from memories.archive.sections import ArchiveEntry
from memories.archive.zip_file import build_zip
from memories.jobs.periodic import periodic
from memories.jobs.services import Advance, RetryLater, job_create, job_kind
from memories.lifecycle.frozen_texts import FrozenTextUnreachable
from memories.models import Job
from privacy.erasure.services import subject_spellings
from privacy.models import MentionStatus, Subject, SubjectCorrection, SubjectFile, SubjectMention, SubjectVersion
from privacy.subjects.further_rows import AboutSubject, further_rows, model_of
from privacy.subjects.linked_things import LinkedThing, linked_things
from privacy.subjects.stored_texts import THING_KINDS
from teams.activity.log import activity_record
from teams.activity.models import ActivityAction
from teams.principal import Principal
from teams.sensitivity import DEFAULT_LEVEL, Sensitive, Sensitivity, reading_everything

WRITE_FILE = "write_subject_file"
FILE_RETENTION = datetime.timedelta(days=1)
MAX_IMMEDIATE_MENTIONS = 100
"""A subject with more linked things gets its file by a job."""
MAX_CONTEXTS = 10_000
"""The most contexts in a file, the newest."""
HOUR_SECONDS = 3_600
STORE_PAUSE = datetime.timedelta(minutes=5)
"""After this time, a job tries again to read texts from a store that could not be read."""


@transaction.atomic
def subject_file_create(*, subject: Subject, principal: Principal) -> SubjectFile:
    """Create a file with everything about the subject, and return it; a large one is written by a job.

    Raises FrozenTextUnreachable where a text cannot be read now: no file lacks one.
    """
    expired_files_delete()
    file = SubjectFile.objects.create(subject=subject, requested_by=principal.ref, requester_name=principal.name)
    if _linked(subject).count() <= MAX_IMMEDIATE_MENTIONS:
        with reading_everything():
            _write(file)
        file.refresh_from_db(fields=["finished_at"])
    else:
        file.job = job_create(kind=WRITE_FILE, arguments={"file": str(file.id)}, agent=None, principal=principal)
        file.save(update_fields=["job"])
    return file


@periodic(HOUR_SECONDS, "subject files")
def expired_files_delete() -> None:
    """Delete the files that were requested more than a day ago."""
    SubjectFile.objects.filter(created__lt=timezone.now() - FILE_RETENTION).delete()


@job_kind(WRITE_FILE)
def write_subject_file(job: Job, advance: Advance) -> None:
    """Write the file that the job names; nothing happens if it was deleted, or is written."""
    file = SubjectFile.objects.select_related("subject").filter(id=job.arguments["file"], finished_at=None).first()
    if file is not None:
        try:
            _write(file)
        except FrozenTextUnreachable as error:
            raise RetryLater(error.detail, STORE_PAUSE) from error
        advance(0)


def file_name(file: SubjectFile) -> str:
    """Return the name of the downloaded file, which does not say whom it is about."""
    return f"subject-{file.created:%Y-%m-%d-%H%M}.zip"


def note_download(file: SubjectFile, principal: Principal) -> None:
    """Record the download in the activity log, and as a reading of all that is confidential in the file."""
    target = f"subject:{file.subject_id}"
    activity_record(principal, ActivityAction.EXPORT_DOWNLOADED, target, detail={"file": str(file.id)})
    by_model = defaultdict[Any, list[Any]](list)
    for kind, thing in _linked(file.subject).values_list("ref_kind", "thing"):
        by_model[THING_KINDS[kind].model].append(thing)
    with zipfile.ZipFile(BytesIO(written_content(file))) as archive:
        written = orjson.loads(archive.read("data.json"))
    for row in written["further"]:
        by_model[model_of(row["table"])].append(row["id"])
    by_model[Assembly] += [context["id"] for context in written["contexts"]]
    for model, ids in by_model.items():
        if issubclass(model, Sensitive):
            columns = [name for name in model.owner_columns.values() if name and "__" not in name]
            confidential = model.objects.filter(id__in=ids, sensitivity__gt=DEFAULT_LEVEL)
            list(confidential.only("sensitivity", *columns))  # loading them notes them as read


def _linked(subject: Subject) -> Any:
    return SubjectMention.objects.filter(subject=subject, status=MentionStatus.LINKED).order_by("ref_kind", "id")


def _write(file: SubjectFile) -> None:
    """Write the content of the file. Raises FrozenTextUnreachable, which says that nothing was written, and why."""
    try:
        data = subject_data(file.subject, file.created)
    except FrozenTextUnreachable as error:
        raise FrozenTextUnreachable(
            f"The file was not written, because it would lack a text about the person. {error.detail} If it stays so, "
            "the operator of Dossier looks at the store of frozen texts, see docs/lifecycle.md."
        ) from error
    further = list(map(_with_plain_texts, data["further"]))
    facts = {**data, "things": list(map(_readable, data["things"])), "further": further}
    page = render_to_string("privacy/subjects/export.html", facts)
    entries = [
        ArchiveEntry("index.html", [page]),
        ArchiveEntry("data.json", [_indented(data)]),
    ]
    with build_zip(entries) as packed:
        content = packed.read()
    SubjectFile.objects.filter(id=file.id).update(content=content, finished_at=timezone.now())


def _readable(thing: dict[str, Any]) -> dict[str, Any]:
    """Return a thing with its lists and objects as text."""
    return {**_with_plain_texts(thing), "versions": list(map(_with_plain_texts, thing["versions"]))}


def _with_plain_texts(facts: dict[str, Any]) -> dict[str, Any]:
    plain = {name: text if isinstance(text, str) else _indented(text) for name, text in facts["texts"].items()}
    return {**facts, "texts": plain}


def _indented(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


def subject_data(subject: Subject, at: datetime.datetime) -> dict[str, Any]:
    """Return everything that is linked to the subject, as JSON-safe data."""
    mentions = list(_linked(subject))
    contexts, has_more = _contexts(mentions)
    things = linked_things(mentions)
    further, incomplete = _further(subject, mentions, [UUID(context["id"]) for context in contexts])
    return {
        "subject": {
            "id": str(subject.id),
            "name": subject.name,
            "kind": subject.kind,
            "note": subject.note,
            "identifiers": [{"kind": one.kind, "value": one.value} for one in subject.identifiers.order_by("id")],
            "created_at": _moment(subject.created),
            "restricted_at": _moment(subject.restricted_at),
            "versions": [_subject_version(version) for version in subject.versions.all()],
            "corrections": [_correction(one) for one in subject.corrections.order_by("-created", "-id")],
        },
        "written_at": _moment(at),
        "things": [_thing_data(thing) for thing in things if thing.row is not None and thing.kind.name != "context"],
        "contexts": contexts,
        "has_more_contexts": has_more,
        "further": further,
        "incomplete": incomplete,
    }


def _subject_version(version: SubjectVersion) -> dict[str, Any]:
    return {
        "version": version.version,
        "name": version.name,
        "note": version.note,
        "identifiers": version.identifiers,
        "written_by": version.by_name,
        "created_at": _moment(version.created),
    }


def _correction(correction: SubjectCorrection) -> dict[str, Any]:
    return {
        "wrong": correction.wrong,
        "right": correction.right,
        "reason": correction.reason,
        "requested_by": correction.requester_name,
        "created_at": _moment(correction.created),
        "told": correction.told,
    }


def _further(
    subject: Subject, mentions: list[SubjectMention], contexts: list[UUID]
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the rows of other tables, as JSON-safe data, and the tables of which only the newest rows are there."""
    about = AboutSubject(subject, [mention.about for mention in mentions], contexts)
    found: list[dict[str, Any]] = []
    incomplete: list[str] = []
    for place, rows, has_more in further_rows(about, subject_spellings(subject)):
        label = str(rows[0]._meta.verbose_name)  # noqa: SLF001 - Django's documented name
        of_table = {"table": place.table, "label": label}
        found += [{**of_table, "id": str(row.pk), **_facts(row, place.columns)} for row in rows]
        incomplete += [place.table] if has_more else []
    return found, incomplete


def _thing_data(thing: LinkedThing) -> dict[str, Any]:
    """Return a thing with its current texts and all versions, the newest first."""
    row, kind = thing.row, thing.kind
    return {
        "kind": kind.name,
        "label": str(kind.label),
        "id": str(thing.mention.thing),
        "title": thing.title,
        "owner": thing.owner,
        "spellings": thing.mention.spellings,
        "contexts": thing.mention.contexts,
        "linked_at": _moment(thing.mention.decided_at),
        **_facts(row, kind.columns),
        "versions": [_facts(version, kind.version_columns) for version in _versions(thing)],
    }


def _versions(thing: LinkedThing) -> Iterator[Any]:
    if thing.kind.versions is not None:
        rows = thing.kind.versions.everything.filter(file_id=thing.mention.thing)
        yield from rows.order_by("-version").iterator(chunk_size=20)


def _facts(row: Any, columns: tuple[str, ...]) -> dict[str, Any]:
    """Return the texts of a row, and what is known about them."""
    level = getattr(row, "sensitivity", None)
    return {
        "version": getattr(row, "version", None),
        "sensitivity": None if level is None else Sensitivity(level).word,
        "origin": getattr(row, "origin", None),
        "written_by": getattr(row, "editor_name", None),
        "occurred_at": _moment(getattr(row, "occurred_at", None)),
        "created_at": _moment(getattr(row, "created", None)),
        "updated_at": _moment(getattr(row, "updated_at", None) or getattr(row, "updated", None)),
        "texts": {column: value for column in columns if (value := getattr(row, column))},
    }


def _contexts(mentions: list[SubjectMention]) -> tuple[list[dict[str, Any]], bool]:
    """Return the newest contexts that told one of the things, or that are linked themselves; whether there are more."""
    named = {piece: mention.about for mention in mentions for piece in mention.pieces}
    linked = [mention.thing for mention in mentions if mention.ref_kind == "context"]
    found = Assembly.everything.filter(id__in=linked)
    if named:
        found = found | Assembly.everything.filter(told__overlap=[*named])
    rows = list(found.defer("body", "omitted", "codes").order_by("-created", "-id")[: MAX_CONTEXTS + 1])
    texts = _request_texts(mentions)
    contexts = [
        {
            "id": str(row.id),
            "created_at": _moment(row.created),
            "agent": row.agent_name,
            "team": row.team_name,
            "requested_by": row.requester_name,
            "purpose": row.effective_purpose.value,
            "topic": row.topic,
            "sensitivity": Sensitivity(row.sensitivity).word,
            "texts": texts.get(row.id, []),
            "told": sorted({named[piece] for piece in row.told if piece in named}),
        }
        for row in rows[:MAX_CONTEXTS]
    ]
    return contexts, len(rows) > MAX_CONTEXTS


def _request_texts(mentions: list[SubjectMention]) -> dict[UUID, list[str]]:
    """Return the texts that stand in requests for contexts alone, such as turns, by context."""
    of_contexts = [mention for mention in mentions if mention.ref_kind == "context"]
    wanted = {piece for mention in of_contexts for piece in mention.pieces}
    hashes = Piece.objects.filter(id__in=wanted).values_list("id", "text_sha256")
    pieces = {id_: bytes(sha256) for id_, sha256 in hashes}
    rows = StoredText.objects.filter(sha256__in=pieces.values()).values_list("sha256", "text", "sealed")
    texts = {sha256: text for sha256, text in read_texts(rows).items() if not isinstance(text, ErasedText)}
    return {
        mention.thing: [texts[pieces[piece]] for piece in mention.pieces if pieces.get(piece) in texts]
        for mention in of_contexts
    }


def _moment(at: datetime.datetime | None) -> str | None:
    return None if at is None else at.astimezone(datetime.UTC).isoformat().replace("+00:00", "Z")


def written_content(file: SubjectFile) -> bytes:
    """Return the bytes of a file that is written."""
    return bytes(SubjectFile.objects.values_list("content", flat=True).get(id=file.id))
