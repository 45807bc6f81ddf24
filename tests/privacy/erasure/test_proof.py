"""What was erased is proven by the chain: a changed, removed or added erasure is found; bundles prove it elsewhere."""

from typing import Any

import pytest
from django.db import connections, transaction

from agents.models import Agent
from assembly.models import Assembly, RecordErasure
from assembly.monitoring.trends.recount import load_with_records
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.bundle_check import chain_faults, check_bundle
from assembly.records.bundle_reader import read_bundle
from assembly.records.bundle_writer import RecordBundle, zip_bundle
from assembly.records.seal_verification import VerificationCounts, verify_records
from memories.models import Memory
from memories.services import MemoryFacts, memory_create
from privacy.erasure.erasure_job import erasure_run
from privacy.models import MentionStatus, SubjectErasure, SubjectMention
from privacy.subjects.services import mentions_decide
from teams.models import Team, User
from teams.principal import SYSTEM
from tests.client import Api, problem
from tests.privacy.erasure.world import begin, erase, follow_all, run_all_jobs
from tests.privacy.subject_factories import NAME, link_all, scanned_subject


@pytest.fixture
def contexts(committed_database: str, agent: Agent, team: Team) -> list[Assembly]:
    """A context that told of the person, one whose topic names them, and one before anything was said of them."""
    before = assemble(agent=agent, asked=AssemblyRequest(topic="tea"), principal=SYSTEM).assembly
    memory_create(owner=agent, facts=MemoryFacts(kind="fact", text=f"{NAME} likes tea."), principal=SYSTEM)
    memory_create(owner=agent, facts=MemoryFacts(kind="fact", text="Tea is hot."), principal=SYSTEM)
    run_all_jobs()
    told = assemble(agent=agent, asked=AssemblyRequest(topic="hot drinks"), principal=SYSTEM).assembly
    request = AssemblyRequest(topic=f"What does {NAME} like?", entities=(NAME,))
    asked = assemble(agent=agent, asked=request, principal=SYSTEM).assembly
    follow_all()
    return [before, told, asked]


@pytest.fixture
def erasure(contexts: list[Assembly]) -> SubjectErasure:
    subject = scanned_subject()
    link_all(subject)
    return erase(subject)


def kinds() -> set[str]:
    return {finding.kind.value for finding in verify_records(VerificationCounts())}


def as_owner(table: str, statement: str, parameters: Any = None) -> None:
    """Change the table as who owns the database and switches its guards off."""
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        cursor.execute(statement, parameters)
        assert cursor.rowcount > 0
        cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")


def test_a_tampered_erasure_is_found(contexts: list[Assembly], erasure: SubjectErasure) -> None:
    tally = VerificationCounts()
    assert list(verify_records(tally)) == []
    assert tally.erased == 1  # the one whose topic was emptied
    for column, value in (("number", 7), ("by_ref", "person:x"), ("report", "{}")):
        [[was]] = RecordErasure.objects.exclude(report="").values_list(column)
        change = f"UPDATE record_erasures SET {column} = %s WHERE report <> ''"  # noqa: S608 - a constant
        as_owner("record_erasures", change, [value])
        assert kinds() == {"erasure_altered"}
        as_owner("record_erasures", change, [was])
    as_owner("assemblies", "UPDATE assemblies SET tokens = tokens + 1 WHERE topic = '[erased]'")
    assert kinds() == {"record_altered"}
    as_owner("assemblies", "UPDATE assemblies SET tokens = tokens - 1 WHERE topic = '[erased]'")
    as_owner("record_erasures", "UPDATE record_erasures SET piece_hashes = '' WHERE piece_hashes <> ''")
    assert kinds() == {"erasure_altered", "record_altered"}


@pytest.mark.deep
def test_a_forged_or_removed_erasure_is_found(contexts: list[Assembly], erasure: SubjectErasure) -> None:
    gone = "DELETE FROM record_erasures WHERE report <> ''"
    as_owner("record_erasures", gone)
    assert kinds() == {"erasure_missing"}
    forged = f"UPDATE assemblies SET topic = '[erased]' WHERE id = '{contexts[0].id}'"  # noqa: S608 - an id
    as_owner("assemblies", forged)
    RecordErasure.objects.create(
        created=erasure.created,
        erasure=erasure.id,
        number=2,
        by_ref="x",
        assemblies=[contexts[0].id],
        columns=["topic"],
        hashes=bytes(32),
    )
    assert kinds() == {"erasure_missing", "erasure_forged", "record_altered"}


def test_a_bundle_proves_what_is_gone(contexts: list[Assembly], erasure: SubjectErasure) -> None:
    bundle = read_bundle(zip_bundle(RecordBundle([one.id for one in contexts])))
    assert bundle.damaged == ()
    assert list(chain_faults(bundle)) == []
    checks = {check.id: check for check in check_bundle(bundle)}
    before, told, asked = (checks[one.id] for one in contexts)
    assert (before.replays, before.fault, before.erased) == (True, "", "")
    for one in (told, asked):
        assert (one.replays, one.fault) == (False, "")
        assert one.erased.startswith("Erasure 1 of ")
    assert NAME not in str(bundle.texts)


def test_pages_and_endpoints_say_what_is_gone(
    contexts: list[Assembly], erasure: SubjectErasure, admin: User, admin_api: Api, client: Any
) -> None:
    before, told, asked = contexts
    client.force_login(admin)
    page = client.get(f"/contexts/{told.id}/")
    assert page.status_code == 200
    assert "Erasure 1 removed 1 item from this context on" in page.content.decode()
    items = client.get(f"/contexts/{told.id}/items/")
    assert items.status_code == 200
    assert "by erasure 1]" in items.content.decode()
    for one in (told, asked):
        assert problem(admin_api.post(f"assemblies/{one.id}/replay"))[:2] == (410, "record_erased")
    answer = client.get(f"/contexts/{asked.id}/")
    assert answer.status_code == 410
    assert "its topic and its decisions" in answer.content.decode()
    assert client.get("/contexts/").status_code == 200
    replayed = client.post(f"/contexts/{told.id}/replay/", headers={"HX-Request": "true"})
    assert "it cannot be replayed" in replayed.content.decode()
    stored = list(Assembly.everything.order_by("id"))
    assert [one.id for one, _record in load_with_records(stored)] == [before.id, told.id]
    compared = client.get("/contexts/compare/", {"before": str(told.id), "after": str(before.id)})
    assert compared.status_code == 200, compared.content
    for page in ("why-not", "rules-and-sources", "bundle"):
        assert client.get(f"/contexts/{told.id}/{page}/").status_code == 200, page
    assert client.get(f"/contexts/{told.id}/exact/").status_code == 302
    assert client.get(f"/contexts/{told.id}/json/").status_code == 410
    assert admin_api.get(f"assemblies/{before.id}").status_code == 200
    decisions = admin_api.get(f"assemblies/{told.id}/decisions")
    assert decisions.status_code == 200, decisions.content
    assert client.get("/erasures/").status_code == 200
    shown = client.get(f"/erasures/{erasure.id}/").content.decode()
    assert "nothing was found" in shown
    report = client.get(f"/erasures/{erasure.id}/report.json")
    assert report.json() == erasure.report


def test_a_namesake_is_spared(committed_database: str, agent: Agent, team: Team) -> None:
    kept = memory_create(
        owner=agent, facts=MemoryFacts(kind="fact", text=f"{NAME} the painter was born in 1900."), principal=SYSTEM
    )
    memory_create(owner=agent, facts=MemoryFacts(kind="fact", text=f"{NAME} owes us tea."), principal=SYSTEM)
    run_all_jobs()
    subject = scanned_subject()
    link_all(subject)
    other = SubjectMention.objects.filter(thing=kept.id).values_list("id", flat=True)
    mentions_decide(subject=subject, mentions=list(other), status=MentionStatus.DISMISSED, principal=SYSTEM)
    erasure_run(begin(subject))
    assert SubjectErasure.objects.get().state == "finished"
    assert list(Memory.everything.values_list("text", flat=True)) == [f"{NAME} the painter was born in 1900."]
    assert kept.versions.get().content == f"{NAME} the painter was born in 1900."
