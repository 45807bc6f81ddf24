"""The topic of a context above internal lies sealed, wherever it is stored, and reads as it was written."""

from typing import Any
from unittest.mock import Mock
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction

from agents.keys import api_key_create
from agents.models import Agent, ApiKey
from assembly.models import Assembly, Proposal, RecallResult, RecallTest, Seal
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.recall_tests.kept_context import recall_test_from_context
from assembly.recall_tests.services import recall_test_run
from assembly.records.followers import new_assemblies_follow
from assembly.records.raised_levels import raise_recorded_levels
from assembly.records.reader import load_record, replay
from assembly.records.seal_verification import Finding, FindingKind, VerificationCounts, sealed_findings
from assembly.simulation.proposals.services import proposal_create, proposal_rerun
from assembly.simulation.simulate import Overrides
from config.db.statements import fetch_rows
from config.keys import store
from config.keys.envelope import DecryptionFailed
from config.keys.key_errors import KeyStoreMissing, KeyStoreUnavailable
from config.keys.sealed_texts import MARK
from memories.lifecycle.plain_texts import plain_text_count, plain_texts_seal
from memories.services import MemoryFacts, memory_create
from privacy.erasure.records import record_parts
from privacy.erasure.sought import Sought
from privacy.erasure.spelling_patterns import SpellingPatterns
from teams.principal import SYSTEM
from teams.sealing.fields import UNREADABLE_NOTICE
from teams.sensitivity import Sensitivity
from tests.client import Api, problem
from tests.privacy.subject_factories import NAME
from tests.sensitivity.restricted_things import raise_level

pytestmark = pytest.mark.django_db

SECRET = "Where is the Vyqxquokka?"
TABLES = ("assemblies", "proposals", "recall_tests", "recall_results", "alerts", "jobs", "idempotent_requests",
          "memory_requests", "shared_cache", "context_files", "new_assemblies")  # fmt: skip


def context(agent: Agent, level: int = Sensitivity.CONFIDENTIAL, topic: str = SECRET) -> Assembly:
    asked = AssemblyRequest(topic=topic, sensitivity=level, max_tokens=2_000)
    return assemble(agent=agent, asked=asked, principal=SYSTEM).assembly


def stored_topic(record: Assembly) -> str:
    ((topic,),) = fetch_rows("SELECT topic FROM assemblies WHERE id = %s", [record.id])
    return str(topic)


def holding(words: str) -> set[str]:
    """The columns of tables about contexts in which the words lie in plain."""
    return {
        f"{table}.{column}"
        for table in TABLES
        for (column,) in fetch_rows(
            f"SELECT DISTINCT member FROM {table} AS row, jsonb_each_text(to_jsonb(row)) AS one (member, said)"  # noqa: S608
            " WHERE said LIKE %s",
            [f"%{words}%"],
        )
    }


def findings() -> list[Finding]:
    """What is wrong with the sealed records."""
    assert Seal.objects.exists()
    return [one for seal in Seal.objects.all() for one in sealed_findings(seal, VerificationCounts())]


@pytest.fixture
def cleared(agent: Agent) -> Agent:
    Agent.objects.filter(pk=agent.pk).update(clearance=Sensitivity.CONFIDENTIAL)
    agent.refresh_from_db()
    memory_create(owner=agent, facts=MemoryFacts(kind="fact", text="Quokkas drink tea."), principal=SYSTEM)
    return agent


def test_a_topic_and_what_is_made_of_it_lie_sealed_and_read_as_written(
    cleared: Agent, admin_api: Api, settings: Any
) -> None:
    settings.CACHE_SENSITIVITY = "confidential"
    record, again = context(cleared), context(cleared)
    assert again.decided_in == record.id
    proposal, _ = proposal_create(
        assembly=record, wishes=Overrides(topic=f"{SECRET} Now?"), note=SECRET, principal=SYSTEM
    )
    recall = recall_test_from_context(assembly=record, refs=(), principal=SYSTEM)
    recall_test_run(test=recall, principal=SYSTEM)
    assert holding("Vyqxquokka") == set()
    assert stored_topic(record).startswith(MARK)
    for one in Assembly.objects.all():
        assert one.topic == SECRET
        assert replay(load_record(one)).identical
    proposal = Proposal.objects.get(id=proposal.id)
    assert (proposal.wishes["topic"], proposal.note) == (f"{SECRET} Now?", SECRET)
    assert proposal_rerun(proposal)
    recall = RecallTest.objects.get(id=recall.id)
    assert (recall.topic, recall.name, recall.sensitivity) == (SECRET, SECRET, 2)
    assert RecallResult.objects.get().outcomes[0]["passed"] is True
    new_assemblies_follow()
    assert findings() == []
    listed = admin_api.get("assemblies").json()["results"]
    assert [one["topic"] for one in listed] == [SECRET, SECRET]
    assert admin_api.get("assemblies?q=Vyqxquokka").json()["results"] == []
    assert admin_api.get("assemblies?q=sealed").json()["results"] == []


def test_a_request_by_rest_leaves_no_topic_in_plain(cleared: Agent) -> None:
    api = Api(api_key_create(agent=cleared, scopes=[ApiKey.Scope.CONFIDENTIAL])[1])
    asked = {"agent": cleared.slug, "topic": SECRET, "sensitivity": "confidential"}
    assert api.post("assemblies", asked, idempotency_key="one").json()["topic"] == SECRET
    body = {"request_id": "one", "intent": SECRET, "sensitivity": "confidential"}
    assert api.post("memory/assemble", body).status_code == 201
    assert holding("Vyqxquokka") == set()


def test_a_topic_is_sealed_when_its_context_is_raised_and_the_seal_stays_valid(cleared: Agent) -> None:
    record = context(cleared, Sensitivity.INTERNAL)
    proposal, _ = proposal_create(assembly=record, wishes=Overrides(topic=SECRET), note=SECRET, principal=SYSTEM)
    new_assemblies_follow()
    assert holding("Vyqxquokka") == {"assemblies.topic", "proposals.wishes", "proposals.note"}
    with pytest.raises(IntegrityError, match="not sealed"), transaction.atomic():
        fetch_rows("SELECT raise_contexts(2::smallint, %s)", [[record.id]])
    [memory] = cleared.memories.all()
    raise_level(type(memory), memory.pk)
    raise_recorded_levels()
    assert holding("Vyqxquokka") == set()
    assert Assembly.objects.get(id=record.id).topic == Proposal.objects.get(id=proposal.id).note == SECRET
    assert findings() == []


def test_topics_of_an_earlier_version_are_sealed_by_the_command(cleared: Agent) -> None:
    record = context(cleared, Sensitivity.INTERNAL)
    fetch_rows("SELECT set_config('dossier.erasing', 'spellings', true)")  # by which it is as it was stored before
    fetch_rows("SELECT raise_contexts(2::smallint, %s)", [[record.id]])
    fetch_rows("SELECT set_config('dossier.erasing', '', true)")
    assert plain_text_count() == 1
    assert sum(sealed for _, sealed in plain_texts_seal()) == 1
    assert plain_text_count() == 0
    assert stored_topic(record).startswith(MARK)
    assert Assembly.objects.get(id=record.id).topic == SECRET


def test_an_erasure_finds_what_a_sealed_topic_says(cleared: Agent) -> None:
    record, other = context(cleared, topic=f"When does {NAME} come?"), context(cleared)
    found = record_parts(Sought(uuid4(), SpellingPatterns.of([NAME]), frozenset(), frozenset()))
    assert "topic" in found.columns[record.id]
    assert other.id not in found.columns


def test_one_that_cannot_be_read_breaks_no_list_and_is_found(
    cleared: Agent, admin_api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = context(cleared)
    new_assemblies_follow()
    monkeypatch.setattr("teams.sealing.fields.open_text", Mock(side_effect=DecryptionFailed))
    assert [one["topic"] for one in admin_api.get("assemblies").json()["results"]] == [UNREADABLE_NOTICE]
    assert problem(admin_api.get(f"assemblies/{record.id}")) == (500, "record_damaged")
    assert [one.kind for one in findings()] == [FindingKind.RECORD_ALTERED]
    monkeypatch.setattr("teams.sealing.fields.open_text", Mock(side_effect=KeyStoreUnavailable))
    assert [one["topic"] for one in admin_api.get("assemblies").json()["results"]] == [UNREADABLE_NOTICE]
    assert problem(admin_api.get(f"assemblies/{record.id}")) == (503, "key_store_unavailable")
    with pytest.raises(KeyStoreUnavailable):
        findings()


def test_without_a_key_store_nothing_is_recorded(cleared: Agent, settings: Any) -> None:
    settings.KEY_STORE = None
    store.forget_keys()
    with pytest.raises(KeyStoreMissing), transaction.atomic():
        context(cleared)
