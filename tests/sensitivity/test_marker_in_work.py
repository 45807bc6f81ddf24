"""What the program does by itself about restricted things: jobs, periodic work, commands, messages that leave it.

Nothing of it has the marker: no log line, no trace, no argument or error of a job, no message to a webhook, no e-mail,
no output of a command, and no column of a table. Kinds of things, jobs, periodic tasks and commands are those that are
registered, so a new one is tried as well, or fails a test until it is named here.
"""

import io
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from django.apps import apps
from django.core import mail
from django.core.management import call_command, get_commands
from django.core.management.base import CommandError
from django.db import connection, models
from django.utils import timezone

from assembly.conflicts.find import conflicts_find_all, noted_conflicts_find
from assembly.models import Alert, Webhook, WebhookDelivery, WebhookEvent
from assembly.monitoring.webhooks.delivery import DELIVERY, alert_announce
from assembly.monitoring.webhooks.http_post import secret_new
from assembly.notifications.services import MAIL, alert_notify
from assembly.records.raised_levels import raise_recorded_levels
from config.http.encrypted_fields import MARK, TEXT_MARK
from config.http.encryption import encrypt
from config.http.errors import DossierError
from memories.archive.sections import scope_of_agent
from memories.archive.services import import_create, import_for
from memories.embeddings.indexing import reindex
from memories.jobs.periodic import PERIODIC_TASKS
from memories.jobs.services import KINDS, NeverRetry, RetryLater, job_create
from memories.lifecycle.hourly_run import lifecycle_job_create
from memories.lifecycle.undoing import lifecycle_undo
from memories.models import ImportPlan, Job, LifecycleReport, Memory
from privacy.corrections.corrected_text import ValueCorrection
from privacy.corrections.services import correction_create
from privacy.models import SubjectFile, SubjectMention
from privacy.subjects.export import subject_file_create
from privacy.subjects.services import Identifier, SubjectFacts, subject_create
from teams.principal import SYSTEM, Role
from teams.sensitivity import Sensitivity, reading_as, reading_everything
from teams.services import membership_set
from tests.archives import packed, texts_in, zipped
from tests.assembly.monitoring.alerts.alert_factories import alert_on
from tests.http_endpoints import giving, serving
from tests.rights.world import LED, World
from tests.sensitivity.observation import Observation, observed
from tests.sensitivity.restricted_things import MARKER, Restricted, raise_level
from tests.sensitivity.test_sealed_columns import columns_with_marker

OWN_APPS = frozenset({"agents", "assembly", "memories", "privacy", "teams"})


@contextmanager
def unseen() -> Iterator[Observation]:
    """Fail if what is done within the block writes the marker anywhere."""
    with observed() as observation:
        yield observation
        observation.note_rows()
        assert not observation.having(MARKER)
    assert columns_with_marker() == set()


@pytest.mark.django_db
def test_there_is_a_restricted_row_of_every_kind(world: World, restricted: Mapping[str, Restricted]) -> None:
    """A new table with levels joins `restricted_things`, so that the walks of this folder look for its texts."""
    without_texts = {"external_sources"}
    missing = set()
    for model in apps.get_models():
        columns = [one.attname for one in model._meta.concrete_fields]
        if "sensitivity" not in columns or model._meta.db_table in without_texts:
            continue
        rows = getattr(model, "everything", model._default_manager).filter(sensitivity=Sensitivity.RESTRICTED)
        if not any(MARKER in str(getattr(row, column)) for row in rows for column in columns):
            missing.add(model._meta.db_table)
    assert not missing


def run(job: Job) -> None:
    """Run the job as a worker does; what it raises is what would stand in its row."""
    with reading_everything():
        try:
            KINDS[job.kind](job, lambda _steps: None)
        except (RetryLater, NeverRetry, DossierError) as error:
            Job.objects.filter(id=job.id).update(error=f"{type(error).__name__}: {error}")


def changed_archive(world: World, plan: str) -> ImportPlan:
    """An import by an admin of the team that would change a restricted memory and file."""
    principal = world.people["mixed"].principal
    with reading_as(principal):
        files = texts_in(zipped(scope_of_agent(world.teams[LED].agent, principal)))
        archive = packed({name: text.replace(b" of tea", b" of cake") for name, text in files.items()})
        assert any(MARKER.encode() in text for text in files.values())
        return import_create(archive=archive, file_name=plan, principal=principal)


def _plan_import(world: World) -> None:
    plan = changed_archive(world, "led.zip")
    assert MARKER in str(plan.steps)
    ImportPlan.objects.filter(id=plan.id).update(status="planning")
    arguments = {"plan": str(plan.id), "begin": False}
    job_create(kind="plan_import", arguments=arguments, agent=None, principal=world.people["mixed"].principal)


def _import_archive(world: World) -> None:
    plan = changed_archive(world, "led.zip")
    ImportPlan.objects.filter(id=plan.id).update(status="running")
    arguments = {"plan": str(plan.id)}
    job_create(kind="import_archive", arguments=arguments, agent=None, principal=world.people["mixed"].principal)


def _about_subject(world: World) -> None:
    """A subject that restricted texts mention, with a correction and a file about it."""
    identifiers = [Identifier("other", "memory of tea")]
    subject = subject_create(facts=SubjectFacts("Tea Quell", "customer", "", identifiers), principal=SYSTEM)
    run(Job.objects.filter(kind="find_subject_mentions").latest("created"))
    mentions = SubjectMention.objects.filter(subject=subject)
    assert mentions.exists()
    mentions.update(status="linked")
    memory = Memory.objects.get(id=mentions.filter(ref_kind="memory")[0].thing)
    assert MARKER in memory.text
    correction_create(
        subject=subject,
        value=ValueCorrection("other", "memory of tea", "memory of coffee"),
        reason="Wrong.",
        things=[f"memory:{memory.id}@{memory.version}"],
        principal=SYSTEM,
    )
    file = subject_file_create(subject=subject, principal=SYSTEM)
    SubjectFile.objects.filter(id=file.id).update(finished_at=None)
    job_create(kind="write_subject_file", arguments={"file": str(file.id)}, agent=None, principal=SYSTEM)


def _undo(_world: World) -> None:
    thing = Memory.everything.filter(sensitivity=Sensitivity.RESTRICTED)[0]
    report = LifecycleReport(
        run=uuid.uuid4(), step="evict", started=timezone.now(), changed=1, things=[f"memory:{thing.id}"]
    )
    report.save(force_insert=True)
    lifecycle_undo(report=report, principal=SYSTEM)


def _warm_up(_world: World) -> None:
    things = [["memory", str(one.id)] for one in Memory.everything.filter(sensitivity=Sensitivity.RESTRICTED)]
    job_create(kind="warm_up_things", arguments={"things": things}, agent=None, principal=SYSTEM)


def _mail(world: World) -> None:
    alert_notify(Alert.everything.filter(sensitivity=Sensitivity.RESTRICTED, team_id=world.teams[LED].team.id)[0])
    person = world.teams[LED].boss
    job_create(kind=MAIL, arguments={"user": str(person.id)}, agent=None, principal=SYSTEM)


def _derive_levels(_world: World) -> None:
    items = [str(id_) for id_ in Memory.everything.filter(sensitivity=3).values_list("id", flat=True)]
    job_create(kind="derive_levels", arguments={"kind": "memory", "items": items}, agent=None, principal=SYSTEM)


QUEUED: Mapping[str, Callable[[World], object]] = {
    "plan_import": _plan_import,
    "import_archive": _import_archive,
    "find_conflicts": lambda _world: conflicts_find_all(),
    "derive_levels": _derive_levels,
    "embed_missing": lambda _world: reindex(agent=None, principal=SYSTEM),
    "run_recall_tests": lambda _world: job_create(
        kind="run_recall_tests", arguments={"embedder": "other"}, agent=None, principal=SYSTEM
    ),
    "learn_weights": lambda _world: job_create(
        kind="learn_weights", arguments={"profile": "house"}, agent=None, principal=SYSTEM
    ),
    "lifecycle": lambda _world: lifecycle_job_create(),
    "undo_lifecycle": _undo,
    "warm_up_things": _warm_up,
    "mail_notifications": _mail,
    "correct_subject": _about_subject,
    "write_subject_file": _about_subject,
}
"""What queues the jobs that are not waiting in the world already."""
ELSEWHERE = {"erase_subject": "its own tests look for what was erased in all tables, files and logs"}


def _queued_jobs() -> list[Job]:
    noted_conflicts_find()
    return list(Job.objects.filter(status="queued").exclude(kind__in=ELSEWHERE).select_related("agent"))


@pytest.mark.django_db
def test_no_job_tells_of_it(world: World, restricted: Mapping[str, Restricted]) -> None:
    with unseen():
        for queue in dict.fromkeys(QUEUED.values()):
            queue(world)
        Job.objects.filter(status="parked", kind=DELIVERY).update(status="queued")
        done = set[str]()
        while jobs := _queued_jobs():
            for job in jobs:
                run(job)
                Job.objects.filter(id=job.id).update(status="done")
                done.add(job.kind)
    assert done == KINDS.keys() - ELSEWHERE.keys()


@pytest.mark.django_db
def test_no_periodic_work_tells_of_it(world: World, restricted: Mapping[str, Restricted]) -> None:
    Webhook.objects.update(events=[event.value for event in WebhookEvent])
    with unseen():
        for task in PERIODIC_TASKS:
            task.work()


REPORTS: Mapping[str, Mapping[str, Any]] = {
    "count_contexts": {"again": True},
    "derive_levels": {},
    "encrypt_records": {},
    "find_conflicts": {},
    "provision_files": {},
    "reencrypt_secrets": {},
    "reindex": {},
    "repeat_erasures": {"check": True},
    "rewrap_keys": {},
    "seal_texts": {},
    "verify_records": {},
}
"""Commands that say what they found or did, with their options."""
NO_REPORTS = {
    **dict.fromkeys(["serve", "web", "heavy", "work", "migrate"], "runs or prepares the program; it writes log lines"),
    **dict.fromkeys(
        ["create_api_key", "revoke_api_key", "remove_second_factor"], "names a key, an agent or a person that is given"
    ),
    **dict.fromkeys(
        ["export", "export_records"], "writes a file whose texts the operator asked for, and says where and how many"
    ),
    **dict.fromkeys(
        ["import_bundle", "import_conversation", "import_records", "import_workspace", "replay_bundle",
         "train_ranker", "train_conflicts", "load_demo"],
        "reads a file, whose parts it names",
    ),
    **dict.fromkeys(["distribute", "partition_tables", "reembed"], "works on whole tables, and names these"),
    "learn_weights": "prints numbers of the same functions as the job of this name",
}  # fmt: skip
"""Commands that are not tried, each with the reason."""


def test_every_command_is_tried_or_has_a_reason() -> None:
    own = {name for name, app in get_commands().items() if app in OWN_APPS}
    assert own == REPORTS.keys() | NO_REPORTS.keys()


def test_no_command_tells_of_it(world: World, restricted: Mapping[str, Restricted]) -> None:
    """Without a mark for the database: commands work with two of its accounts, and so commit what they do."""
    with unseen():
        for name, options in REPORTS.items():
            said = io.StringIO()
            try:
                call_command(name, stdout=said, stderr=said, **options)
            except CommandError as error:  # what it finds wrong is no matter of this test, but what it says of it is
                said.write(str(error))
            assert MARKER not in said.getvalue(), name


@pytest.mark.django_db
def test_no_webhook_and_no_mail_is_told_of_it(
    world: World, restricted: Mapping[str, Restricted], settings: Any
) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS, settings.EMAIL_HOST = ["127.0.0.0/8"], "mail.example.org"
    led = world.teams[LED]
    type(led.boss).objects.filter(id=led.boss.id).update(email_notifications=True, email="boss@example.org")
    below = alert_on(led.agent, led.team, thing="agent_file:9", name="Plainly told")
    with serving(giving({})) as endpoint:
        Webhook.objects.all().delete()
        events = [event.value for event in WebhookEvent]
        Webhook.objects.create(url=endpoint.url, events=events, sealed_secret=encrypt(secret_new()))
        with unseen():
            for alert in (below, *Alert.everything.filter(sensitivity=Sensitivity.RESTRICTED)):
                alert_announce(event=WebhookEvent.ALERT_OPENED, alert=alert)
                alert_notify(alert)
            for job in Job.objects.filter(kind__in=[DELIVERY, MAIL], status="queued"):
                run(job)
    assert [one.body["data"]["name"] for one in endpoint.seen] == ["Plainly told"]
    texts = [f"{one.subject} {one.body}" for one in mail.outbox]
    assert any("Plainly told" in text for text in texts)
    assert any("an alert about something restricted" in text for text in texts)


@pytest.mark.django_db
def test_messages_about_an_alert_that_is_raised_are_deleted(world: World) -> None:
    """Nobody with a right to the webhook reads the name of the text any more, and a waiting message is not sent."""
    led = world.teams[LED]
    Webhook.objects.update(events=[WebhookEvent.ALERT_OPENED])
    context = led.ids["contexts"]
    for name in ("Raised name", "Other name"):
        alert = alert_on(led.agent, led.team, thing=name, name=name, context=context if "Raised" in name else None)
        alert_announce(event=WebhookEvent.ALERT_OPENED, alert=alert)
    memory = Memory.objects.get(id=led.ids["agents/memories"])
    raise_level(Memory, memory.id)
    raise_recorded_levels()
    bodies = "".join(WebhookDelivery.objects.values_list("body", flat=True))
    assert "Other name" in bodies
    assert "Raised name" not in bodies


def stored(model: type[models.Model], column: str) -> list[bytes]:
    """What lies in the column."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {column} FROM {model._meta.db_table}")  # noqa: S608
        return [one.encode() if isinstance(one, str) else bytes(one) for (one,) in cursor.fetchall()]


@pytest.mark.django_db
def test_a_plan_is_encrypted_and_follows_the_clearance_of_its_requester(
    world: World, restricted: Mapping[str, Restricted]
) -> None:
    plan, mixed = changed_archive(world, "led.zip"), world.people["mixed"]
    assert all(one.startswith(MARK) for one in stored(ImportPlan, "archive"))
    assert any(TEXT_MARK.encode() in one or rb"\u0003copy1" in one for one in stored(ImportPlan, "steps"))
    assert MARKER in str(import_for(mixed.principal, plan.id).steps)
    membership_set(team=world.teams[LED].team, user=mixed, role=Role.VIEWER)
    assert MARKER not in str(import_for(mixed.principal, plan.id).steps)
    assert MARKER not in world.browsers["mixed"].get(f"/import/{plan.id}/").content.decode()
