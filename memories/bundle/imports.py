"""Imports as people go through them: an archive is shown, looked at, and then done or forgotten."""

from collections.abc import Collection
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from agents.keys import principal_behind
from config.http.errors import Conflict, NotFound
from memories.bundle.applying import units_apply
from memories.bundle.planning import shown_of, steps_read, taken
from memories.bundle.rooms import ROOMS, Storing
from memories.bundle.zip_reading import zip_contents
from memories.importing import Advance
from memories.jobs import job_create, job_kind
from memories.models import ImportPlan, ImportStatus, Job
from teams.files import MAX_NOTE_CHARACTERS, locked
from teams.principal import Principal

KEPT = timedelta(days=1)
"""So long somebody may look before it is forgotten."""
MOST_AT_ONCE = 200
"""More steps than these are done in the background."""
MAX_FILE_NAME_CHARACTERS = 150


def import_show(*, archive: bytes, file_name: str, principal: Principal) -> ImportPlan:
    """Keep the zip together with what importing it would do. Nothing else is written. Raises ImportRefused."""
    shown = shown_of(zip_contents(archive, ROOMS), principal)
    ImportPlan.objects.filter(created__lt=timezone.now() - KEPT).delete()
    return ImportPlan.objects.create(
        requested_by=principal.ref,
        file_name=_plain(file_name),
        archive=archive,
        steps=[step.as_json() for step in shown.steps],
        aside=shown.aside,
        same=shown.same,
    )


def imports_of(principal: Principal) -> QuerySet[ImportPlan]:
    """The imports that somebody began and that are still kept, the newest first, without what is in them."""
    plans = ImportPlan.objects.defer("archive", "steps", "aside").select_related("job")
    return plans.filter(requested_by=principal.ref, created__gte=timezone.now() - KEPT).order_by("-created", "-id")


def import_for(principal: Principal, id_: UUID) -> ImportPlan:
    """The import with that id, for the one who began it, while it is kept. Raises NotFound."""
    plan = imports_of(principal).defer(None).defer("archive").filter(id=id_).first()
    if plan is None:
        raise NotFound(f"The import “{id_}”")
    return plan


@transaction.atomic
def import_begin(*, plan: ImportPlan, chosen: Collection[str], principal: Principal) -> ImportPlan:
    """Do what was shown, and of what was changed here since its export, the chosen; many steps in the background.

    Raises Conflict for an import that was begun already.
    """
    current = locked(plan)
    if current.status != ImportStatus.SHOWN:
        raise Conflict("This was imported already. To import it once more, choose the file again.")
    current.status, current.chosen = ImportStatus.RUNNING, sorted(chosen)
    steps = sum(taken(step, set(chosen)) for step in steps_read(current.steps))
    if steps > MOST_AT_ONCE:
        arguments = {"plan": str(current.id)}
        current.job = job_create(
            kind="import_archive", arguments=arguments, agent=None, principal=principal, steps=steps
        )
    current.save()
    if steps <= MOST_AT_ONCE:
        import_run(plan=current, principal=principal, advance=bool)
    return current


@job_kind("import_archive")
def import_in_background(job: Job, advance: Advance) -> None:
    """Do the import that the job names, in the name of the one who began it; one that is done or forgotten is."""
    plan = ImportPlan.objects.filter(id=job.arguments["plan"], status=ImportStatus.RUNNING).first()
    principal = principal_behind(job.requested_by)
    if plan and principal:
        import_run(plan=plan, principal=principal, advance=advance)


def import_run(*, plan: ImportPlan, principal: Principal, advance: Advance) -> None:
    """Do all that is to be done of the plan, and write down by unit what came of it."""
    contents = zip_contents(bytes(plan.archive), ROOMS)
    chosen = set(plan.chosen)
    steps = [step for step in steps_read(plan.steps) if taken(step, chosen) and step.unit not in plan.outcome]
    storing = Storing(principal, note_of(plan.file_name), advance)
    for unit, stored, left in units_apply(contents, steps, storing):
        plan.outcome[unit] = {"stored": stored, "left": [[one.name, one.reason] for one in left]}
        plan.save(update_fields=["outcome"])
    plan.status, plan.finished_at, plan.archive = ImportStatus.DONE, timezone.now(), b""
    plan.save(update_fields=["status", "finished_at", "archive"])


def note_of(file_name: str) -> str:
    """The note of the versions that an import makes."""
    return f"Imported from {file_name}"[:MAX_NOTE_CHARACTERS]


def _plain(file_name: str) -> str:
    """The last part of the name that a browser or a program gave."""
    last = file_name.replace("\\", "/").rpartition("/")[2]
    printable = "".join(character if character.isprintable() else " " for character in last)
    return printable.strip()[-MAX_FILE_NAME_CHARACTERS:] or "archive.zip"
