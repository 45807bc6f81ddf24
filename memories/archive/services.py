"""This module creates and runs imports: an uploaded archive's changes are shown, and then applied, or they expire."""

from collections.abc import Collection
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from agents.access import still_sees, visibility_of
from agents.authentication import principal_behind
from agents.quotas.services import texts_count
from config.http.cpu_budget import TooCostly, TookTooLong, cpu_budget, wall_limit
from config.http.errors import Conflict, NotFound
from memories.archive.contents import ArchiveContents
from memories.archive.plan import ImportPreview, apply_units, is_selected, load_steps, preview_import, units_of
from memories.archive.sections import SECTIONS, ImportContext
from memories.archive.upload_limits import check_memory_count, check_upload, require_may_upload
from memories.archive.zip_file import read_zip
from memories.imports.base import Advance, ImportRefused
from memories.jobs.services import job_create, job_kind
from memories.models import ImportPlan, ImportStatus, Job
from teams.activity.log import activity_record
from teams.activity.models import ActivityAction
from teams.principal import Principal
from teams.sensitivity import reading_as
from teams.versioned_text.versioned_file import MAX_NOTE_CHARACTERS, lock_row

RETENTION = timedelta(days=1)
"""The time after which an import is deleted."""
MAX_WAITING_PLANS = 20
"""The most imports of one person that wait to be started; with one more, the oldest is refused."""
SUPERSEDED = f"You sent {MAX_WAITING_PLANS} others and began none of them, so this one was forgotten. Send it again."
MAX_STEPS_IN_REQUEST = 200
MAX_CHARACTERS_IN_REQUEST = 1_000_000
"""Limits of an import within the request; one with more steps or longer texts is done in the background."""
READING_CPU_SECONDS = 1.0
READING_SECONDS = 3.0
"""An archive that takes longer to read and compare is read by a background job."""
MAX_FILE_NAME_CHARACTERS = 150


def import_create(*, archive: bytes, file_name: str, principal: Principal, begin: bool = False) -> ImportPlan:
    """Store the zip and the changes that its import would make, and return the plan; with `begin`, apply them at once.

    The unpacked size counts as texts stored today. An archive that takes long to read is read by a job; until then its
    plan is PLANNING. Raises ImportRefused, TooManyRequests, and Forbidden for a principal who can import nothing.
    """
    require_may_upload(principal)
    contents = read_zip(archive, SECTIONS)
    check_upload(archive, contents, principal)
    plan = ImportPlan(requested_by=principal.ref, file_name=_base_name(file_name), archive=archive)
    _preview(plan, contents, principal)
    _delete_expired(principal)
    with transaction.atomic():
        plan.save(force_insert=True)
        if plan.status == ImportStatus.PLANNING:
            _preview_in_background(plan, contents, principal, begin=begin)
    # The request already counts the bytes of its body, which is the zip.
    texts_count(principal=principal, text_bytes=max(0, contents.size - len(archive)))
    if plan.status == ImportStatus.PLANNING or not begin:
        return plan
    return import_begin(plan=plan, chosen=(), principal=principal)


def _preview(plan: ImportPlan, contents: ArchiveContents, principal: Principal) -> None:
    """Set the steps of the plan, or, if computing them takes too long, the status PLANNING. Raises ImportRefused."""
    try:
        with cpu_budget(READING_CPU_SECONDS), wall_limit(READING_SECONDS):
            check_memory_count(contents)
            plan.visibility = visibility_of(principal)
            _store_preview(plan, preview_import(contents, principal))
    except (TooCostly, TookTooLong):
        plan.status = ImportStatus.PLANNING


def _preview_in_background(plan: ImportPlan, contents: ArchiveContents, principal: Principal, *, begin: bool) -> None:
    units = len(units_of(contents)[0])
    arguments = {"plan": str(plan.id), "begin": begin}
    plan.job = job_create(kind="plan_import", arguments=arguments, agent=None, principal=principal, steps=units)
    plan.save(update_fields=["job"])


def imports_of(principal: Principal) -> QuerySet[ImportPlan]:
    """Return the principal's imports that have not expired, the newest first, without their contents."""
    plans = ImportPlan.objects.defer("archive", "steps", "aside").select_related("job")
    return plans.filter(requested_by=principal.ref, created__gte=timezone.now() - RETENTION).order_by("-created", "-id")


def import_for(principal: Principal, id_: UUID) -> ImportPlan:
    """Return the import with that id, if the principal started it and it has not expired. Raises NotFound.

    Steps contain lines of texts, so they are computed again where the principal can no longer see all agents and teams
    that were visible before.
    """
    plan = imports_of(principal).defer(None).defer("archive").filter(id=id_).first()
    if plan is None:
        raise NotFound(f"The import “{id_}”")
    if plan.status == ImportStatus.PLANNING or still_sees(principal, plan.visibility):
        return plan
    return import_refresh(plan=plan, principal=principal)


@transaction.atomic
def import_refresh(*, plan: ImportPlan, principal: Principal) -> ImportPlan:
    """Compute the steps again with the principal's current rights; of a started import, delete the lines of texts."""
    current = lock_row(plan)
    if current.status == ImportStatus.SHOWN:
        contents = read_zip(bytes(current.archive), SECTIONS)
        current.steps, current.aside = [], []
        _preview(current, contents, principal)
        if current.status == ImportStatus.PLANNING:
            _preview_in_background(current, contents, principal, begin=False)
    else:
        current.visibility = visibility_of(principal)
        current.steps = [replace(step, lines=[]).as_json() for step in load_steps(current.steps)]
    current.save()
    return current


@transaction.atomic
def import_begin(*, plan: ImportPlan, chosen: Collection[str], principal: Principal) -> ImportPlan:
    """Apply the steps, and the chosen ones of those changed here since the export; many steps by a background job.

    Returns the plan. Raises Conflict for an import that was started already, or is still being read.
    """
    current = lock_row(import_for(principal, plan.id))
    if current.status == ImportStatus.PLANNING:
        raise Conflict("This is still being read. Look at what would change first; it takes a moment.")
    if current.status != ImportStatus.SHOWN:
        raise Conflict("This was imported already, or refused. To import it once more, choose the file again.")
    activity_record(principal, ActivityAction.IMPORT_BEGUN, current.file_name)
    current.status, current.chosen = ImportStatus.RUNNING, sorted(chosen)
    names = set(chosen)
    steps = [step for step in load_steps(current.steps) if is_selected(step, names)]
    characters = sum(step.size_before + step.size_after for step in steps)
    # An archive that took long to read is read again before the first step.
    at_once = current.job is None and len(steps) <= MAX_STEPS_IN_REQUEST and characters <= MAX_CHARACTERS_IN_REQUEST
    if not at_once:
        arguments = {"plan": str(current.id)}
        current.job = job_create(
            kind="import_archive", arguments=arguments, agent=None, principal=principal, steps=len(steps)
        )
    current.save()
    if at_once:
        import_run(plan=current, principal=principal, advance=bool)
    return current


@job_kind("plan_import")
def import_plan_in_background(job: Job, advance: Advance) -> None:
    """Run a job that reads the archive of a plan for its requester; nothing happens if it was read or deleted."""
    plan = ImportPlan.objects.filter(id=job.arguments["plan"], status=ImportStatus.PLANNING).first()
    principal = principal_behind(job.requested_by)
    if not plan or not principal:
        return
    try:
        contents = read_zip(bytes(plan.archive), SECTIONS)
        check_memory_count(contents)
        plan.visibility = visibility_of(principal)
        with reading_as(principal):
            _store_preview(plan, preview_import(contents, principal, advance))
    except ImportRefused as refused:
        plan.status, plan.refusal, plan.archive = ImportStatus.REFUSED, refused.detail, b""
    with transaction.atomic():
        plan.save()
        if job.arguments["begin"] and plan.status == ImportStatus.SHOWN:
            import_begin(plan=plan, chosen=(), principal=principal)


@job_kind("import_archive")
def import_in_background(job: Job, advance: Advance) -> None:
    """Run a job that applies an import for its requester; nothing happens if it is done or deleted."""
    plan = ImportPlan.objects.filter(id=job.arguments["plan"], status=ImportStatus.RUNNING).first()
    principal = principal_behind(job.requested_by)
    if plan and principal:
        import_run(plan=plan, principal=principal, advance=advance)


def import_run(*, plan: ImportPlan, principal: Principal, advance: Advance) -> None:
    """Apply the remaining steps of the plan, and record the outcome of each unit."""
    contents = read_zip(bytes(plan.archive), SECTIONS)
    chosen = set(plan.chosen)
    steps = [step for step in load_steps(plan.steps) if is_selected(step, chosen) and step.unit not in plan.outcome]
    import_context = ImportContext(principal, note_of(plan.file_name), advance)
    with reading_as(principal):
        for unit, stored, left in apply_units(contents, steps, import_context):
            plan.outcome[unit] = {"stored": stored, "left": [[one.name, one.reason] for one in left]}
            plan.save(update_fields=["outcome"])
    plan.status, plan.finished_at, plan.archive = ImportStatus.DONE, timezone.now(), b""
    plan.save(update_fields=["status", "finished_at", "archive"])


def note_of(file_name: str) -> str:
    """Return the note of the versions that an import creates."""
    return f"Imported from {file_name}"[:MAX_NOTE_CHARACTERS]


def _store_preview(plan: ImportPlan, shown: ImportPreview) -> None:
    plan.steps, plan.aside, plan.same = [step.as_json() for step in shown.steps], shown.aside, shown.same
    plan.status = ImportStatus.SHOWN


def _delete_expired(principal: Principal) -> None:
    """Delete expired imports, and refuse the principal's oldest imports beyond the limit of waiting ones."""
    ImportPlan.objects.filter(created__lt=timezone.now() - RETENTION).delete()
    waiting = imports_of(principal).filter(status__in=[ImportStatus.SHOWN, ImportStatus.PLANNING])
    surplus = list(waiting.values_list("id", flat=True)[MAX_WAITING_PLANS - 1 :])
    # The rows of refused imports remain until they expire, to show what became of them.
    ImportPlan.objects.filter(id__in=surplus).update(
        archive=b"", steps=[], aside=[], status=ImportStatus.REFUSED, refusal=SUPERSEDED
    )


def _base_name(file_name: str) -> str:
    """Return the last part of a file name from a browser or program, printable and shortened."""
    last = file_name.replace("\\", "/").rpartition("/")[2]
    printable = "".join(character if character.isprintable() else " " for character in last)
    return printable.strip()[-MAX_FILE_NAME_CHARACTERS:] or "archive.zip"
