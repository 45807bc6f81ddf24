"""REST: contexts by the profile `memory`: passages of files of four scopes, current at once, at a fixed cost."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agents.models import Agent
from agents.services import daily_log_append
from assembly.engine.refs import Ref
from assembly.models import Assembly
from assembly.models.monitoring import AlertKind
from assembly.monitoring.alerts.findings import findings
from assembly.monitoring.trends.file_losses import lost_files
from assembly.records.reader import load_record
from memories.embeddings.file_splitting import file_split, files_without_passages
from memories.models import TaskFrame
from memories.services import MemoryFacts, memories_create
from teams.models import OrganisationFile, Team
from teams.organisation.services import organisation_file_create
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_save
from tests.assembly.sources.source_factories import document
from tests.client import Api, errors_of

pytestmark = [pytest.mark.usefixtures("press"), pytest.mark.django_db]

TOPIC = "How long does the ink dry on the paper?"
INK = "Black ink dries within a day on newsprint. "
STATEMENTS = 44
"""The most statements of a request about an agent that keeps everything: four for each source of passages."""


@pytest.fixture
def mira(team: Any, press: tuple[Agent, Team]) -> tuple[Agent, Team]:
    """An agent that keeps one of everything."""
    return press


def asked(api: Api, **body: Any) -> dict[str, Any]:
    answer = api.post("assemblies", {"agent": "mira", "team": "press", "profile": "memory", "topic": TOPIC, **body})
    assert answer.status_code == 201, answer.content
    found: dict[str, Any] = answer.json()
    return found


def labels(found: dict[str, Any]) -> list[str]:
    return [section["label"] for section in found["sections"] if section["tokens"]]


def split_all() -> None:
    for kind, id_ in list(files_without_passages(None)):
        file_split(kind=kind, id_=id_)


def decisions(found: dict[str, Any], section: str) -> list[Any]:
    record = load_record(Assembly.objects.get(id=found["id"]))
    return [one for one in record.decisions if one.section == section]


def test_knowledge_of_all_scopes_is_found_and_told_in_its_section(admin_api: Api, mira: tuple[Agent, Team]) -> None:
    found = asked(admin_api)
    assert {
        "Organisation Knowledge", "Team Goals", "Relevant Content", "Project Structure", "Personal Memories",
        "Daily Logs", "Knowledge Base",
    } <= set(labels(found))  # fmt: skip
    assert "Identity" not in labels(found)
    content = found["content"]
    for text in ("Dates are written out.", "GOALS: print.", "KNOWLEDGE of Mira.", "Printed the first sheet."):
        assert content.count(text) == 1, text
    assert "press.md (changed 0 min ago)" in content
    assert admin_api.post(f"assemblies/{found['id']}/replay").json()["identical"]


def test_passages_have_the_measures_by_which_blocks_compete(admin_api: Api, mira: tuple[Agent, Team]) -> None:
    found = asked(admin_api)
    for section in ("organisation", "goals", "knowledge", "daily_logs", "team_memories", "agent_memories"):
        for decision in decisions(found, section):
            measures = dict(decision.signals)
            assert {"recency", "relevance", "salience", "credibility", "coherence"} <= measures.keys(), section
            assert all(0 <= measures[name] <= 1 for name in ("recency", "relevance", "salience", "credibility"))
    kinds = {Ref.parse(one.ref).kind for one in decisions(found, "organisation")}
    assert kinds == {"organisation_file"}


def test_what_is_published_is_in_the_next_context(admin_api: Api, mira: tuple[Agent, Team]) -> None:
    before = asked(admin_api)
    file = OrganisationFile.objects.get()
    file_save(file=file, content="Ink is bought in Leipzig.", expected_version=file.version, author=SYSTEM.author)
    after = asked(admin_api)
    assert "Dates are written out." in before["content"]
    assert "Ink is bought in Leipzig." in after["content"]
    assert "Dates are written out." not in after["content"]
    [decision] = decisions(after, "organisation")
    assert decision.ref == f"organisation_file:{file.id}@2#0"
    split_all()
    assert asked(admin_api)["sha256"] == after["sha256"]


def test_without_a_topic_the_latest_come(admin_api: Api, mira: tuple[Agent, Team]) -> None:
    TaskFrame.objects.all().delete()  # its goal would be searched for
    found = asked(admin_api, topic="")
    assert {"Organisation Knowledge", "Team Goals", "Personal Memories"} <= set(labels(found))


def test_a_passage_without_room_is_no_lost_file(admin_api: Api, mira: tuple[Agent, Team]) -> None:
    found = asked(admin_api, max_tokens=60)
    record = load_record(Assembly.objects.get(id=found["id"]))
    excluded = [one for one in record.decisions if one.ref.startswith("team_file:") and not one.included]
    assert excluded
    assert not list(lost_files(record))
    assert not [one for one in findings(record) if one.kind in {AlertKind.FILE_CUT, AlertKind.FILE_LEFT_OUT}]


def test_another_version_cannot_take_the_place_of_passages(admin_api: Api, mira: tuple[Agent, Team]) -> None:
    found = asked(admin_api)
    answer = admin_api.post(f"assemblies/{found['id']}/what-if", {"files": {"GOALS": 1}})
    assert errors_of(answer) == {"files.GOALS"}


def grow(agent: Agent, team: Team, number: int) -> None:
    """More of everything that has passages, of which half is split."""
    text = "\n\n".join(f"## Part {part}\n\n{INK * 12}" for part in range(6))
    for place in range(number):
        organisation_file_create(key=f"file-{place}", title=f"File {place}", content=text, principal=SYSTEM)
        document(agent, f"src/module{place}.py", place)
    split_all()
    for file in team.files.all():
        file_save(file=file, content=text, expected_version=file.version, author=SYSTEM.author)
    facts = [MemoryFacts(kind="fact", text=f"{INK} {place}") for place in range(number)]
    for owner in (agent, team):
        memories_create(owner=owner, facts=facts, principal=SYSTEM)
    daily_log_append(agent=agent, date=agent.today(timezone.now()), text=text, principal=SYSTEM)


def test_the_number_of_statements_does_not_grow_with_what_there_is(admin_api: Api, mira: tuple[Agent, Team]) -> None:
    asked(admin_api)
    with CaptureQueriesContext(connection) as few:
        asked(admin_api, topic=f"{TOPIC} Really?")
    grow(*mira, number=30)
    asked(admin_api)
    with CaptureQueriesContext(connection) as many:
        asked(admin_api, topic=f"{TOPIC} Surely?")
    assert len(few) == len(many) <= STATEMENTS
