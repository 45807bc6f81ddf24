"""This module exports lists of contexts as CSV or JSON files, short ones at once, long ones by a background job.

The column names are documented in docs/audit/list.md and do not change.
"""

import json
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Sum
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext as _

from agents.access import still_sees, visibility_of
from agents.authentication import principal_behind
from assembly.contexts.search.parameters import require_context_query
from assembly.contexts.search.search import SearchPage, matching_count, search_contexts
from assembly.contexts.search.sql import ListPosition, parse_cursor
from assembly.contexts.search.visible_owners import VisibleOwners
from assembly.models import Assembly, ContextFile, ContextFilePart
from config.http.csv_files import CSV_TYPE, csv_text
from config.http.cursors import encode_cursor
from config.http.errors import DossierError, NotFound
from memories.archive.zip_file import IN_MEMORY_BYTES, file_response
from memories.jobs.services import Advance, job_create, job_kind
from memories.models import Job
from teams.activity.log import export_record
from teams.principal import Principal
from teams.sensitivity import DEFAULT_LEVEL, reading_as

COLUMNS = (
    "id",
    "created_at",
    "agent",
    "agent_name",
    "team",
    "team_name",
    "requested_by",
    "requester_name",
    "purpose",
    "topic",
    "profile",
    "profile_version",
    "tokenizer",
    "now",
    "budget",
    "tokens",
    "truncated",
    "excluded",
    "warnings",
    "assembly_ms",
)
COLUMN_NAMES_IN_RECORD = {
    "created_at": "created",
    "excluded": "left_out",
    "agent": "agent_slug",
    "team": "team_slug",
    "profile": "profile_name",
    "purpose": "effective_purpose",
}
"""Attributes of `Assembly` by export column, for columns whose attribute has another name."""


def row_of(context: Assembly) -> Mapping[str, Any]:
    """Return the context's exported values by column name; moments are RFC 3339 texts in UTC."""
    values = {column: getattr(context, COLUMN_NAMES_IN_RECORD.get(column, column)) for column in COLUMNS}
    moments = {name: values[name].isoformat().replace("+00:00", "Z") for name in ("created_at", "now")}
    return {**values, **moments, "id": str(context.id)}


Rows = Sequence[Mapping[str, Any]]
UUID_PATTERN = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """An export format: its content type, the text before and after all rows, and how rows are written.

    `between` is the text that separates two parts of a file.
    """

    content_type: str
    begin: str
    write: Callable[[Rows], str]
    between: str
    end: str


def _csv_rows(rows: Rows) -> str:
    return csv_text([row[name] for name in COLUMNS] for row in rows)


def _json_rows(rows: Rows) -> str:
    return ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)


EXPORT_FORMATS: Mapping[str, ExportFormat] = {
    "csv": ExportFormat(CSV_TYPE, ",".join(COLUMNS) + "\r\n", _csv_rows, "", ""),
    "json": ExportFormat("application/json", "[\n", _json_rows, ",\n", "\n]\n"),
}


def list_response(contexts: Sequence[Assembly], kind: str, principal: Principal) -> HttpResponseBase:
    """Return a response with the contexts as a file in the format `kind` (csv or json), written at once.

    The activity log says that the principal got them.
    """
    parts = [EXPORT_FORMATS[kind].write([row_of(context) for context in contexts])]
    name = f"contexts-{timezone.now():%Y-%m-%d}.{kind}"
    export_record(principal, name, rows=len(contexts), team_ids={context.team_id for context in contexts})
    return HttpResponse(
        "".join(_framed_parts(parts, kind)),
        content_type=EXPORT_FORMATS[kind].content_type,
        headers={"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"},
    )


def export_file_response(file: ContextFile, principal: Principal) -> HttpResponseBase:
    """Return a response with the export file that a job prepared, read from the database part by part.

    The activity log says that the principal got it, to admins of the teams that its requester saw.
    """
    contents = file.parts.order_by("number").values_list("content", flat=True).iterator(chunk_size=1)
    written = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES)  # noqa: SIM115 - the answer closes it
    texts = (_noted_as_read(bytes(content).decode()) for content in contents)
    for text in _framed_parts(texts, file.format):
        written.write(text.encode())
    written.seek(0)
    name = f"contexts-{file.created:%Y-%m-%d-%H%M}.{file.format}"
    rows = file.parts.aggregate(rows=Sum("rows"))["rows"] or 0
    export_record(principal, name, rows=rows, team_ids=map(UUID, file.visibility.get("teams", ())))
    return file_response(written, name, EXPORT_FORMATS[file.format].content_type)


def _noted_as_read(part: str) -> str:
    """Return the part of an export file, after its confidential contexts were loaded, so that these count as read."""
    ids = set(UUID_PATTERN.findall(part))
    list(Assembly.objects.filter(id__in=ids, sensitivity__gt=DEFAULT_LEVEL).only("agent_id", "team_id", "sensitivity"))
    return part


def _framed_parts(parts: Iterable[str], kind: str) -> Iterable[str]:
    """Yield the non-empty parts with the format's beginning, separators and end."""
    form, begun = EXPORT_FORMATS[kind], False
    yield form.begin
    for part in parts:
        if part:
            yield form.between + part if begun else part
            begun = True
    yield form.end


FILE_RETENTION = timedelta(days=1)
MAX_IMMEDIATE_ROWS = 5_000
"""Lists of more rows are prepared in the background."""
ROWS_PER_PART = 1_000
"""Number of rows that are read and written at a time."""
MAX_SLICES = 8
"""Number of search pages after which an unfinished list counts as long, even if few of its rows match."""


def find_short_list(*, visible: VisibleOwners, parameters: Mapping[str, str]) -> Sequence[Assembly] | None:
    """Return all contexts that match the parameters, or None if the list is too long to export at once.

    Raises Invalid for a bad parameter and SearchTooBroad when the search times out.
    """
    wanted, contexts = require_context_query(parameters, visible), list[Assembly]()
    after: ListPosition | None = None
    for _stretch in range(MAX_SLICES):
        page = search_contexts(visible=visible, wanted=wanted, after=after, limit=ROWS_PER_PART)
        contexts += page.contexts
        after = page.next
        if after is None or len(contexts) > MAX_IMMEDIATE_ROWS:
            break
    return None if after or len(contexts) > MAX_IMMEDIATE_ROWS else contexts


@transaction.atomic
def context_file_create(*, parameters: Mapping[str, str], kind: str, principal: Principal) -> ContextFile:
    """Create an export file and the job that prepares it.

    Contexts recorded after this call are not in the file. Export files older than a day are deleted.
    """
    ContextFile.objects.filter(created__lt=timezone.now() - FILE_RETENTION).delete()
    until = parameters.get("until") or timezone.now().isoformat()
    file = ContextFile.objects.create(
        requested_by=principal.ref, parameters={**parameters, "until": until}, format=kind
    )
    arguments = {"file": str(file.id)}
    file.job = job_create(kind="list_contexts", arguments=arguments, agent=None, principal=principal)
    file.save(update_fields=["job"])
    return file


class AccessChanged(DossierError):
    """The export holds contexts that its requester may no longer see (403)."""

    status = 403
    code = "access_changed"
    title = "Your permissions changed"


def require_same_access(file: ContextFile, principal: Principal) -> None:
    """Check that the requester still sees every agent and team whose contexts are in the file. Raises AccessChanged."""
    if not still_sees(principal, file.visibility):
        raise AccessChanged(
            _(
                "Your permissions, or the sensitivity of a text, changed since this export was created. Create it "
                "again: the new export contains what you may see now."
            )
        )


def context_file_for(principal: Principal, id_: UUID) -> ContextFile:
    """Return the export file with this id if the principal requested it within the last day. Raises NotFound."""
    files = ContextFile.objects.select_related("job").filter(created__gte=timezone.now() - FILE_RETENTION)
    file = files.filter(id=id_, requested_by=principal.ref).first()
    if file is None:
        raise NotFound("This list")
    return file


@job_kind("list_contexts")
def prepare_context_file(job: Job, advance: Advance) -> None:
    """Prepare the export file that the job names, with the contexts that its requester may see now.

    Nothing happens if the file was deleted or finished, or if the requester no longer exists.
    """
    file = ContextFile.objects.filter(id=job.arguments["file"], finished_at=None).first()
    principal = principal_behind(job.requested_by)
    if not file or not principal:
        return
    with reading_as(principal):
        _prepare(file, VisibleOwners(principal), job, advance)


def _prepare(file: ContextFile, visible: VisibleOwners, job: Job, advance: Advance) -> None:
    wanted = require_context_query(file.parameters, visible)
    visibility = visibility_of(visible.principal)
    if visibility != file.visibility:  # a resumed job, too, may hold rows that the requester may no longer see
        file.parts.all().delete()
        ContextFile.objects.filter(id=file.id).update(visibility=visibility)
    Job.objects.filter(id=job.id).update(steps=matching_count(visible=visible, wanted=wanted))
    parts = list(file.parts.defer("content").order_by("number"))
    advance(sum(part.rows for part in parts))
    after = parse_cursor(parts[-1].place) if parts else None
    while not parts or after:
        page = search_contexts(visible=visible, wanted=wanted, after=after, limit=ROWS_PER_PART)
        parts.append(_to_file_part(file, len(parts), page))
        after = page.next
        advance(len(page.contexts))
    ContextFile.objects.filter(id=file.id).update(finished_at=timezone.now())


def _to_file_part(file: ContextFile, number: int, page: SearchPage) -> ContextFilePart:
    content = EXPORT_FORMATS[file.format].write([row_of(context) for context in page.contexts]).encode()
    place = encode_cursor(page.next) if page.next else ""
    rows = len(page.contexts)
    return ContextFilePart.objects.create(file=file, number=number, content=content, rows=rows, place=place)
