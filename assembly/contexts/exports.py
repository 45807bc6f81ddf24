"""Texts as cells of a CSV that spreadsheets open: no part of them is taken for a formula.

Every CSV that Dossier writes passes its cells through here. Quoting alone does not help: a spreadsheet evaluates quoted
cells as well, and one that splits at other signs than commas, or reads line by line, begins a cell amid a text.

What stands in a row of a downloaded list. The names are documented in docs/audit/list.md, and stay.

The two formats of a list: CSV, made safe for spreadsheets, and JSON.

A list of contexts as an answer, to be saved as a file.

Preparing a list of contexts as a file: a short one at once, a long one in the background.
"""

import csv
import io
import json
import re
import tempfile
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
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
from config.http.cursors import encode_cursor
from config.http.errors import DossierError, NotFound
from memories.archive.zip_file import IN_MEMORY_BYTES, file_response
from memories.jobs.services import Advance, job_create, job_kind
from memories.models import Job
from teams.principal import Principal

FORMULA_SIGNS = frozenset("=+-@\N{MINUS SIGN}")
QUOTES = frozenset("\"'`")
GUARD = "'"
"""A spreadsheet takes what begins with it for a text."""

_BORDERS = re.compile(r"([;,|\t\r\n\v\f\x1c-\x1e\x85\u2028\u2029])")
_LEADING = re.compile(r"[\t\r\n]")
_PASSED_OVER = {"Cc", "Cf", "Mn", "Pf", "Pi", "Zl", "Zp", "Zs"}
"""Unicode's categories of what may stand before a formula: white space, controls, zero-width signs, quotation marks."""


def safe_cell(text: str) -> str:
    """Return the text with an apostrophe before each part that a spreadsheet could take for a formula.

    A part begins the text, or follows what some program splits cells or lines at. White space, quotation marks and
    invisible signs before the formula's own sign change nothing, nor do full-width forms of that sign.
    """
    guarded = "".join(_guarded_parts(text))
    return GUARD + guarded if _LEADING.match(guarded) else guarded


def _guarded_parts(text: str) -> Iterator[str]:
    for part in _BORDERS.split(text):
        yield GUARD + part if _begins_formula(part) else part


def _begins_formula(part: str) -> bool:
    for sign in part:
        if sign not in QUOTES and unicodedata.category(sign) not in _PASSED_OVER:
            # NFKC turns full-width, small and raised forms into the plain sign.
            return unicodedata.normalize("NFKC", sign)[0] in FORMULA_SIGNS
    return False


COLUMNS = (
    "id",
    "created",
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
    "left_out",
    "warnings",
    "assembly_ms",
)
COLUMN_NAMES_IN_RECORD = {
    "agent": "agent_slug",
    "team": "team_slug",
    "profile": "profile_name",
    "purpose": "effective_purpose",
}
"""Columns whose values the record keeps under another name."""


def row_of(context: Assembly) -> Mapping[str, Any]:
    """By column; moments are texts in RFC 3339, UTC."""
    values = {column: getattr(context, COLUMN_NAMES_IN_RECORD.get(column, column)) for column in COLUMNS}
    moments = {name: values[name].isoformat().replace("+00:00", "Z") for name in ("created", "now")}
    return {**values, **moments, "id": str(context.id)}


Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """How rows are written. What lies between two parts of a file is `between`."""

    content_type: str
    begin: str
    write: Callable[[Rows], str]
    between: str
    end: str


def _csv_rows(rows: Rows) -> str:
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n", quoting=csv.QUOTE_ALL)
    writer.writerows([_cell(row[name]) for name in COLUMNS] for row in rows)
    return written.getvalue()


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return safe_cell(" ".join(value) if isinstance(value, list) else str(value))


def _json_rows(rows: Rows) -> str:
    return ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)


EXPORT_FORMATS: Mapping[str, ExportFormat] = {
    "csv": ExportFormat("text/csv; charset=utf-8", ",".join(COLUMNS) + "\r\n", _csv_rows, "", ""),
    "json": ExportFormat("application/json", "[\n", _json_rows, ",\n", "\n]\n"),
}


def list_response(contexts: Sequence[Assembly], kind: str) -> HttpResponseBase:
    """The rows at once."""
    parts = [EXPORT_FORMATS[kind].write([row_of(context) for context in contexts])]
    name = f"contexts-{timezone.now():%Y-%m-%d}.{kind}"
    return HttpResponse(
        "".join(_framed_parts(parts, kind)),
        content_type=EXPORT_FORMATS[kind].content_type,
        headers={"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"},
    )


def export_file_response(file: ContextFile) -> HttpResponseBase:
    """The rows that were prepared, part by part."""
    contents = file.parts.order_by("number").values_list("content", flat=True).iterator(chunk_size=1)
    written = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES)  # noqa: SIM115 - the answer closes it
    for text in _framed_parts((bytes(content).decode() for content in contents), file.format):
        written.write(text.encode())
    written.seek(0)
    name = f"contexts-{file.created:%Y-%m-%d-%H%M}.{file.format}"
    return file_response(written, name, EXPORT_FORMATS[file.format].content_type)


def _framed_parts(parts: Iterable[str], kind: str) -> Iterable[str]:
    """The parts with what stands around and between them; some have no rows."""
    form, begun = EXPORT_FORMATS[kind], False
    yield form.begin
    for part in parts:
        if part:
            yield form.between + part if begun else part
            begun = True
    yield form.end


FILE_RETENTION = timedelta(days=1)
MAX_IMMEDIATE_ROWS = 5_000
"""More rows than these are prepared in the background."""
ROWS_PER_PART = 1_000
"""Rows that are read and written at a time."""
MAX_SLICES = 8
"""Of the list; where so many are not its end, it is long, however few of its rows are wanted."""


def find_short_list(*, visible: VisibleOwners, parameters: Mapping[str, str]) -> Sequence[Assembly] | None:
    """All that the parameters want; None where that is too much to do at once. Raises Invalid and TooBroad."""
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
    """Have the file prepared. What is recorded from now on will not be in it."""
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
    """The list holds contexts that its requester may not see any more."""

    status = 403
    code = "access_changed"
    title = "Your access changed"


def require_same_access(file: ContextFile, principal: Principal) -> None:
    """Check that the requester still sees all that the rows were read from. Raises AccessChanged."""
    if not still_sees(principal, file.visibility):
        raise AccessChanged(
            _(
                "You no longer see every agent and team that you saw when this list was prepared. "
                "Prepare it again: the new list has what you may see now."
            )
        )


def context_file_for(principal: Principal, id_: UUID) -> ContextFile:
    """The file, for the one who asked for it, while it is kept. Raises NotFound."""
    files = ContextFile.objects.select_related("job").filter(created__gte=timezone.now() - FILE_RETENTION)
    file = files.filter(id=id_, requested_by=principal.ref).first()
    if file is None:
        raise NotFound("This list")
    return file


@job_kind("list_contexts")
def prepare_context_file(job: Job, advance: Advance) -> None:
    """Prepare the file that the job names, with what the one who asked for it may see now; one that is gone is done."""
    file = ContextFile.objects.filter(id=job.arguments["file"], finished_at=None).first()
    principal = principal_behind(job.requested_by)
    if file and principal:
        _prepare(file, VisibleOwners(principal), job, advance)


def _prepare(file: ContextFile, visible: VisibleOwners, job: Job, advance: Advance) -> None:
    wanted = require_context_query(file.parameters, visible)
    visibility = visibility_of(visible.principal)
    if visibility != file.visibility:  # also of a job that goes on: its first rows may be others' by now
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
