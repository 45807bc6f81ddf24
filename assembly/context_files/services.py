"""Preparing a list of contexts as a file: a short one at once, a long one in the background."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from agents.keys import principal_behind
from agents.visibility import still_sees, visibility_of
from assembly.context_files.columns import row_of
from assembly.context_files.formats import FORMATS
from assembly.finding import Found, Place, Sight, after_of, found, matching_count, wanted_or_refused
from assembly.models import Assembly, ContextFile, ContextFilePart
from config.http.cursors import cursor_at
from config.http.errors import DossierError, NotFound
from memories.jobs import Advance, job_create, job_kind
from memories.models import Job
from teams.principal import Principal

KEPT = timedelta(days=1)
AT_ONCE = 5_000
"""More rows than these are prepared in the background."""
PART = 1_000
"""Rows that are read and written at a time."""
MOST_STRETCHES = 8
"""Of the list; where so many are not its end, it is long, however few of its rows are wanted."""


def short_list(*, sight: Sight, parameters: Mapping[str, str]) -> Sequence[Assembly] | None:
    """All that the parameters want; None where that is too much to do at once. Raises Invalid and TooBroad."""
    wanted, contexts = wanted_or_refused(parameters, sight), list[Assembly]()
    after: Place | None = None
    for _stretch in range(MOST_STRETCHES):
        page = found(sight=sight, wanted=wanted, after=after, limit=PART)
        contexts += page.contexts
        after = page.next
        if after is None or len(contexts) > AT_ONCE:
            break
    return None if after or len(contexts) > AT_ONCE else contexts


@transaction.atomic
def context_file_begin(*, parameters: Mapping[str, str], kind: str, principal: Principal) -> ContextFile:
    """Have the file prepared. What is recorded from now on will not be in it."""
    ContextFile.objects.filter(created__lt=timezone.now() - KEPT).delete()
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
    files = ContextFile.objects.select_related("job").filter(created__gte=timezone.now() - KEPT)
    file = files.filter(id=id_, requested_by=principal.ref).first()
    if file is None:
        raise NotFound("This list")
    return file


@job_kind("list_contexts")
def context_file_in_background(job: Job, advance: Advance) -> None:
    """Prepare the file that the job names, with what the one who asked for it may see now; one that is gone is done."""
    file = ContextFile.objects.filter(id=job.arguments["file"], finished_at=None).first()
    principal = principal_behind(job.requested_by)
    if file and principal:
        _prepare(file, Sight(principal), job, advance)


def _prepare(file: ContextFile, sight: Sight, job: Job, advance: Advance) -> None:
    wanted = wanted_or_refused(file.parameters, sight)
    visibility = visibility_of(sight.principal)
    if visibility != file.visibility:  # also of a job that goes on: its first rows may be others' by now
        file.parts.all().delete()
        ContextFile.objects.filter(id=file.id).update(visibility=visibility)
    Job.objects.filter(id=job.id).update(steps=matching_count(sight=sight, wanted=wanted))
    parts = list(file.parts.defer("content").order_by("number"))
    advance(sum(part.rows for part in parts))
    after = after_of(parts[-1].place) if parts else None
    while not parts or after:
        page = found(sight=sight, wanted=wanted, after=after, limit=PART)
        parts.append(_part(file, len(parts), page))
        after = page.next
        advance(len(page.contexts))
    ContextFile.objects.filter(id=file.id).update(finished_at=timezone.now())


def _part(file: ContextFile, number: int, page: Found) -> ContextFilePart:
    content = FORMATS[file.format].write([row_of(context) for context in page.contexts]).encode()
    place = cursor_at(page.next) if page.next else ""
    rows = len(page.contexts)
    return ContextFilePart.objects.create(file=file, number=number, content=content, rows=rows, place=place)
