"""A conflict shows in alerts, in the memory contract, in why-not, in reruns and in a metric."""

from typing import Literal

import pytest
from django.test import Client
from django.utils import timezone

from agents.models import Agent
from assembly.comparison.causes import cause_sentence
from assembly.conflicts.services import conflict_resolve, conflict_undo
from assembly.contexts.quality_rows import quality_rows
from assembly.models import Alert, AlertKind, Assembly, Conflict, Webhook, WebhookDelivery, WebhookEvent
from assembly.monitoring.alerts.findings import findings
from assembly.monitoring.new_contexts import follow_assemblies
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.reader import load_record
from assembly.simulation.rerun.services import rerun_today
from memories.models import Memory
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_save
from tests.assembly.conflicts.conflict_factories import EIGHTY, NINETY, remember, run_jobs
from tests.assembly.monitoring.trends.count_factories import told
from tests.client import Api

pytestmark = pytest.mark.django_db
TOPIC = "When does the support line open?"
MARK = "(disputed: another text has another time)"


@pytest.fixture
def conflict(agent: Agent) -> Conflict:
    remember(agent, EIGHTY)
    remember(agent, NINETY, credibility=0.9)
    run_jobs()
    return Conflict.objects.get()


def test_a_flagged_conflict_is_an_alert_until_somebody_decides(conflict: Conflict, agent: Agent, team: Team) -> None:
    def found() -> list[tuple[str, str, str]]:
        asked = AssemblyRequest(topic=TOPIC, profile="memory")
        answer = assemble(agent=agent, team=team, asked=asked, principal=SYSTEM)
        told = findings(load_record(answer.assembly))
        return [(one.thing, one.why, one.name) for one in told if one.kind == AlertKind.CONFLICT_OPEN]

    assert found() == [(f"conflict:{conflict.id}", conflict.cue, "Conflict")]
    resolved = conflict_resolve(conflict=conflict, choice="both", principal=SYSTEM)
    assert found() == []
    conflict_undo(conflict=resolved, principal=SYSTEM)
    assert len(found()) == 1


def test_the_alert_stays_until_the_decision_whatever_other_contexts_are_about(
    conflict: Conflict, agent: Agent, team: Team
) -> None:
    """A context on another topic has neither text, and says nothing about the conflict."""
    Webhook.objects.create(label="Chat", url="https://93.184.216.34/", events=WebhookEvent.values, sealed_secret="x")

    def followed(topic: str) -> tuple[bool, int, list[str]]:
        follow_assemblies([told(agent, team, topic=topic, profile="memory")])
        return state()

    def state() -> tuple[bool, int, list[str]]:
        alert = Alert.objects.get(kind=AlertKind.CONFLICT_OPEN)
        events = WebhookDelivery.objects.order_by("created", "id").values_list("event", flat=True)
        return alert.is_open, alert.times, list(events)

    assert followed(TOPIC) == (True, 1, ["alert.opened"])
    Memory.objects.update(retired_because="away")
    other = told(agent, team, topic="tea", profile="memory")
    Memory.objects.update(retired_because="")
    assert not [one for one in findings(load_record(other)) if one.kind == AlertKind.CONFLICT_OPEN]
    follow_assemblies([other])
    assert state() == (True, 1, ["alert.opened"])
    resolved = conflict_resolve(conflict=conflict, choice="both", principal=SYSTEM)
    assert state() == (False, 1, ["alert.opened", "alert.closed"])
    conflict_undo(conflict=resolved, principal=SYSTEM)
    assert followed(TOPIC) == (True, 2, ["alert.opened", "alert.closed"])
    Memory.objects.filter(text=EIGHTY).update(retired_because="away")
    assert followed(TOPIC)[0] is False, "a side is archived, so nobody needs to decide"


def test_the_memory_contract_names_conflicts(conflict: Conflict, agent_api: Api) -> None:
    body = {"request_id": "one", "intent": TOPIC, "format": "markdown"}
    metadata = agent_api.post("memory/assemble", body).json()["metadata"]
    assert metadata["conflict_resolution"] == {
        "strategy": "flag", "confidence": 0.6, "reasoning": "Major conflicts require human review",
    }  # fmt: skip
    (told,) = metadata["conflicts"]
    assert (told["id"], told["kind"], told["strategy"], told["cue"]) == (
        str(conflict.id), "time", "flag", conflict.cue,
    )  # fmt: skip
    assert len(told["included"]) == 1
    assert {told["left"], told["right"]} == {conflict.left_ref, conflict.right_ref}
    assert [warning["code"] for warning in metadata["warnings"]] == ["CONFLICT_FLAGGED"]
    assert MARK in metadata["content"]
    conflict_resolve(conflict=conflict, choice="both", principal=SYSTEM)
    metadata = agent_api.post("memory/assemble", {**body, "request_id": "two"}).json()["metadata"]
    assert metadata["conflicts"] == []
    assert metadata["conflict_resolution"] == {
        "strategy": "merge", "confidence": 1.0, "reasoning": "No conflicts detected",
    }  # fmt: skip


def test_why_not_says_that_a_decision_would_include_it(conflict: Conflict, agent: Agent, agent_api: Api) -> None:
    made = agent_api.post("assemblies", {"agent": agent.slug, "topic": TOPIC, "profile": "memory"}).json()
    loser = agent.memories.get(text=EIGHTY)
    told = agent_api.get(f"assemblies/{made['id']}/why-not?ref=memory:{loser.id}").json()
    assert told["decision"]["code"] == "conflict_lost"
    assert told["reason"].startswith("In conflict with")
    assert "Major conflicts require human review" in told["reason"]
    kinds = [[change["kind"] for change in one["changes"]] for one in told["remedies"]]
    assert ["conflict_decided"] in kinds
    (remedy,) = [one for one in told["remedies"] if one["changes"][0]["kind"] == "conflict_decided"]
    assert remedy["code"] == "fits"
    assert "if a person decided that it holds against" in remedy["message"]


def test_the_answer_of_an_assembly_has_its_quality_and_the_conflicts(
    conflict: Conflict, agent: Agent, agent_api: Api
) -> None:
    asked = {"agent": agent.slug, "team": "care", "topic": TOPIC, "profile": "memory"}
    made = agent_api.post("assemblies", asked).json()
    names = ("source_coverage", "completeness", "contradiction_rate", "coherence_score", "quality_achieved")
    shown = {row.key: row.value for row in quality_rows(load_record(Assembly.objects.get()), made["content"])}
    assert {name: made["metadata"][name] for name in names} == shown
    assert shown["contradiction_rate"]
    assert made["metadata"]["conflict_ids"] == [str(conflict.id)]
    assert made["metadata"]["quality_achieved"] == made["metadata"]["quality"]
    assert agent_api.get(f"assemblies/{made['id']}").json()["metadata"] == made["metadata"]


def test_an_answer_without_topic_and_conflicts_has_no_quality_of_them(agent: Agent, agent_api: Api) -> None:
    metadata = agent_api.post("assemblies", {"agent": agent.slug}).json()["metadata"]
    assert (metadata["quality_achieved"], metadata["conflict_ids"]) == (None, [])
    assert (metadata["completeness"], metadata["contradiction_rate"]) == (1.0, 0.0)


def test_a_near_duplicate_names_the_one_that_stays(agent: Agent, team: Team, agent_api: Api) -> None:
    remember(agent, EIGHTY)
    remember(team, f"{EIGHTY} ", credibility=0.9)
    run_jobs()
    asked = {"agent": agent.slug, "team": team.slug, "topic": TOPIC, "profile": "memory"}
    made = agent_api.post("assemblies", asked).json()
    (lost,) = [one for one in agent_api.get(f"assemblies/{made['id']}/decisions").json()["results"]
               if one["code"] == "duplicate"]  # fmt: skip
    told = agent_api.get(f"assemblies/{made['id']}/why-not?ref={lost['ref']}").json()
    assert ["without_duplicate"] in [[change["kind"] for change in one["changes"]] for one in told["remedies"]]


def test_a_rerun_explains_what_became_of_a_conflict(agent: Agent, team: Team, editor: User) -> None:
    remember(agent, EIGHTY)
    file_save(file=team.files.get(file_key="GOALS"), content=NINETY, expected_version=1, author=SYSTEM.author)

    def made() -> Assembly:
        asked = AssemblyRequest(topic=TOPIC, profile="memory", now=timezone.now())
        return assemble(agent=agent, team=team, asked=asked, principal=SYSTEM).assembly

    def kinds(assembly: Assembly) -> set[str]:
        found = rerun_today(assembly)
        return {cause.kind for _, causes in found.changes for cause in causes}

    unknown = made()
    run_jobs()
    assert kinds(unknown) == {"conflict_found"}
    conflict, disputed = Conflict.objects.get(), made()
    choice: Literal["left", "right"] = "left" if conflict.left_statement == EIGHTY else "right"
    conflict = conflict_resolve(conflict=conflict, choice=choice, principal=editor.principal)
    assert kinds(disputed) == {"conflict_decided"}
    (cause, *_) = rerun_today(disputed).causes
    assert cause_sentence(cause).startswith("Its conflict with another item was decided by Edda Editor")
    decided = made()
    conflict_undo(conflict=conflict, principal=editor.principal)
    assert kinds(decided) == {"conflict_reopened"}
    conflict_resolve(conflict=conflict, choice="both", principal=editor.principal)
    assert kinds(decided) == {"conflict_gone"}


def test_a_metric_counts_the_open_ones(conflict: Conflict) -> None:
    assert "memory_conflicts_open 1.0" in Client().get("/metrics").content.decode()
    conflict_resolve(conflict=conflict, choice="both", principal=SYSTEM)
    assert "memory_conflicts_open 0.0" in Client().get("/metrics").content.decode()
