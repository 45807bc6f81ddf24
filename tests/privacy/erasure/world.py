"""A person of whom everything says something, another of the same name, and what an erasure leaves."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from unittest import mock
from uuid import uuid4

import numpy as np
from django.conf import settings
from django.db import connections
from django.test import Client

from agents.models import Agent
from assembly.contexts.exports import context_file_create
from assembly.models import Assembly, StoredText, Webhook, WebhookDelivery
from assembly.models.encryption import read_texts
from assembly.pipeline.level_derivation import item_levels_derive
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records import unused_keys
from assembly.records.followers import new_assemblies_follow
from assembly.records.seal_verification import VerificationCounts, verify_records
from config.keys.store_connections import run_in_store
from memories.jobs.execution import job_run
from memories.models import ImportPlan, Job, Memory
from memories.services import MemoryFacts, memory_create, memory_update
from memories.services.document import documents_create
from memories.services.event import events_create
from privacy.erasure.services import erasure_request
from privacy.models import Subject, SubjectErasure
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.sensitivity import reading_everything
from teams.versioned_text.drafts import draft_save
from tests.client import Api
from tests.privacy.subject_factories import NAME, link_all, scanned_subject, tell_everything

LONG = f"{NAME} prefers black tea now. " + " ".join(
    f"On day {day}, {NAME} drank {day} cups of it, and wrote a letter about each of them." for day in range(20)
)
MAIL = "zora.quell@example.org"
CONTEXTS = 50
MENTIONING = 20
"""So many of the contexts have a topic with the name."""


@dataclass
class Told:
    """The subject, whose mentions are linked, and contexts that have nothing of them."""

    subject: Subject
    untouched: list[Assembly]
    memory: Memory


def tell(agent: Agent, team: Team, person: User, admin_api: Api) -> Told:
    """Store everything about the person, and record fifty contexts, twenty of which ask about them."""
    other = Agent.objects.create(slug="other", name="Other")
    tell_everything(agent, team)
    first, *_ = memories = [
        memory_create(owner=agent, facts=MemoryFacts(kind="preference", text=text), principal=SYSTEM)
        for text in (
            f"{NAME} prefers green tea from Uji, brewed at seventy degrees for two minutes.",
            f"Write to {MAIL} before each delivery.",
            "The invoice of zora  quell was paid in March.",
        )
    ]
    memory_update(
        memory=first,
        facts=MemoryFacts(kind="preference", text=LONG),
        expected_version=1,
        principal=SYSTEM,
        superseded_by=None,
        note=f"{NAME} said so",
    )
    long = "\n\n".join(f"Paragraph {number}: {NAME} asked about tea, and got an answer." for number in range(40))
    documents_create(agent=agent, facts=[{"path": "letters.md", "content": long}], principal=SYSTEM)
    message = {"text": f"{NAME} called.", "by": {"mail": MAIL}, NAME: 1}
    events_create(agent=agent, facts=[{"type": "message", "content": message}], principal=SYSTEM)
    memory_create(owner=other, facts=MemoryFacts(kind="fact", text="Tea is harvested in spring."), principal=SYSTEM)
    rules = team.files.get(file_key="RULES")
    draft_save(
        person_id=person.id,
        about=rules.about,
        content=f"Answer {NAME} first.",
        based_on=rules.version,
        expected_revision=0,
    )
    run_all_jobs()
    for memory in memories:
        item_levels_derive(kind="memory", id_=memory.id)
    untouched = []
    for number in range(CONTEXTS):
        topic = f"What does {NAME} want? {number}" if number < MENTIONING else f"tea {number}"
        assemble(agent=agent, team=team, asked=AssemblyRequest(topic=topic), principal=SYSTEM)
        if number % 10 == 0:
            untouched.append(
                assemble(agent=other, asked=AssemblyRequest(topic=f"tea {number}"), principal=SYSTEM).assembly
            )
    follow_all()
    context_file_create(parameters={"q": NAME}, kind="csv", principal=person.principal)
    asked = admin_api.post(
        f"agents/{agent.slug}/memories", {"kind": "fact", "text": f"{NAME} is here."}, idempotency_key="once"
    )
    assert asked.status_code == 201, asked.content
    run_all_jobs()
    ImportPlan.objects.create(requested_by=person.principal.ref, file_name=f"{NAME}.zip", archive=NAME.encode())
    hook = Webhook.objects.create(label=NAME, url="https://example.org/hook", events=["alert.opened"])
    WebhookDelivery.objects.create(webhook=hook, event="alert.opened", body=f'{{"name": "{NAME}"}}')
    Job.objects.create(kind="unknown", arguments={"of": NAME}, status="done", error=f"{NAME} is unknown.")
    subject = scanned_subject()
    link_all(subject)
    return Told(subject, untouched, first)


def run_all_jobs(*, but: str = "") -> None:
    """Run the jobs that wait, and those that they create."""
    while waiting := list(Job.objects.filter(status="queued").exclude(kind=but).values_list("id", flat=True)):
        for id_ in waiting:
            job_run(job_id=id_)


def follow_all() -> None:
    """Seal all new contexts."""
    while new_assemblies_follow():
        pass


def begin(subject: Subject, **choices: object) -> SubjectErasure:
    """Ask for the erasure."""
    return erasure_request(subject=subject, reason="They asked for it by letter.", principal=SYSTEM, **choices)  # type: ignore[arg-type]


def erase(subject: Subject) -> SubjectErasure:
    """Ask for the erasure, run its job and those that follow; return it finished."""
    erasure = begin(subject)
    assert erasure.job_id
    with no_other_requests():
        job_run(job_id=erasure.job_id)
    erasure.refresh_from_db()
    job = Job.objects.get(id=erasure.job_id)
    assert erasure.state == "finished", job.error
    return erasure


def no_other_requests() -> AbstractContextManager[object]:
    """Keys are destroyed at once, because no request runs that could still use them."""
    return mock.patch.object(unused_keys, "RETIREMENT", timedelta(0))


def destroyed_keys() -> int:
    """The number of keys in the key store that are destroyed."""
    (rows,) = run_in_store(("SELECT count(*) FROM data_keys WHERE destroyed_at IS NOT NULL", {}))
    return int(rows[0][0])


def damage() -> list[str]:
    """What the verification of records finds."""
    return [finding.sentence for finding in verify_records(VerificationCounts())]


ALL_ROWS = """
SELECT c.oid::regclass::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace
WHERE nspname IN ('public', 'pgmq') AND relkind IN ('r', 'p', 'm') AND NOT relispartition
"""


def tables_with(text: str) -> dict[str, int]:
    """The number of rows in which the text stands, of each table that has any; bytes are searched as bytes."""
    found = {}
    with connections["owner"].cursor() as cursor:
        cursor.execute(ALL_ROWS)
        for (table,) in cursor.fetchall():
            cursor.execute(
                f"SELECT count(*) FROM {table} AS one WHERE one::text ILIKE %s OR one::text ILIKE %s",  # noqa: S608
                [f"%{text}%", f"%{text.encode().hex()}%"],
            )
            ((number,),) = cursor.fetchall()
            if number:
                found[table] = number
    return found


def recorded_texts_with(text: str) -> int:
    """The number of stored texts in which the text stands once they are decrypted."""
    rows = StoredText.objects.values_list("sha256", "text", "sealed")
    return sum(text.casefold() in stored.casefold() for stored in read_texts(rows).values())


def stored_files() -> Iterator[Path]:
    """The files of this database (tables, indexes, catalogues), of its key store, and all others of the data folder but
    write-ahead files.

    The server has written everything to them.
    """
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "SELECT oid FROM pg_database WHERE datname IN (current_database(), current_database() || '_keys')"
        )
        oids = [oid for (oid,) in cursor.fetchall()]
        # Who may create a database can have everything written down by it, as only an administrator can otherwise.
        name = f"written_{uuid4().hex[:12]}"
        cursor.execute(f"CREATE DATABASE {name} TEMPLATE template0 STRATEGY FILE_COPY")
        cursor.execute(f"DROP DATABASE {name}")
    cluster = settings.DATA_DIR / "postgres"
    for oid in oids:
        yield from (cluster / "base" / str(oid)).iterdir()
    for folder, folders, names in os.walk(settings.DATA_DIR):
        if Path(folder) == cluster:
            # In base, databases of other tests come and go.
            folders[:] = [name for name in folders if name not in ("base", "pg_wal")]
        yield from (Path(folder, name) for name in names)


def write_ahead_files() -> Iterator[Path]:
    """The server's write-ahead files."""
    yield from (settings.DATA_DIR / "postgres" / "pg_wal").iterdir()


def files_with(text: str, files: Iterator[Path]) -> list[str]:
    """The names of the files that have the bytes of the text, in any case of its letters, and of their tables."""
    return _files_with(re.compile(re.escape(text.encode()), re.IGNORECASE), files)


def files_with_vectors(vectors: Iterable[Sequence[float]], files: Iterator[Path]) -> list[str]:
    """The names of the files that have the first numbers of a vector, in single or half precision."""
    heads = {np.asarray(one, kind).tobytes()[:48] for one in vectors for kind in (np.float32, np.float16)}
    return _files_with(re.compile(b"|".join(map(re.escape, sorted(heads)))), files)


def _files_with(sought: re.Pattern[bytes], files: Iterator[Path]) -> list[str]:
    found = []
    for file in files:
        with suppress(FileNotFoundError):  # the server removes what it wrote for a moment
            if file.is_file() and sought.search(file.read_bytes()):
                found.append(file.name)
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT pg_relation_filenode(oid)::text, relname FROM pg_class")
        names = {node: f"{node} ({name})" for node, name in cursor.fetchall()}
    return [names.get(name, name) for name in found]


def page_of(client: Client, address: str) -> str:
    """The page at the address."""
    response = client.get(address)
    assert response.status_code == 200, response.content
    return response.content.decode()


def reread(subject: Subject) -> Subject:
    """The subject as it is stored."""
    with reading_everything():
        return Subject.objects.get(id=subject.id)
