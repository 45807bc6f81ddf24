"""REST: contexts with masked personal data, by the request or by the profile; their records have no other text."""

from typing import Any

import pytest
from django.utils import timezone

from agents.models import Agent
from agents.services import daily_log_append
from assembly.models import Assembly
from memories.jobs.execution import job_run
from memories.models import Job
from memories.services import MemoryFacts, events_create, memories_create
from memories.services.document import documents_create
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_save
from tests.assembly.pipeline.stored_texts import recorded_texts
from tests.client import Api, errors_of

pytestmark = pytest.mark.django_db

ADDRESS, PHONE = "ana.silva@example.org", "+49 30 901820"
FACTS = (f"Ana's address is {ADDRESS}.", f"Call Ana at {PHONE}, or write to {ADDRESS}.")


@pytest.fixture
def informed(agent: Agent) -> Agent:
    """An agent with personal data in two memories."""
    memories_create(owner=agent, facts=[MemoryFacts(kind="fact", text=text) for text in FACTS], principal=SYSTEM)
    return agent


def asked(api: Api, agent: Agent, **body: Any) -> dict[str, Any]:
    answer = api.post("assemblies", {"agent": agent.slug, "topic": "How do I reach Ana?", **body})
    assert answer.status_code == 201, answer.content
    found: dict[str, Any] = answer.json()
    return found


def test_without_masking_everything_is_told(informed: Agent, agent_api: Api) -> None:
    content = asked(agent_api, informed)["content"]
    assert all(fact in content for fact in FACTS)


def test_a_request_can_mask(informed: Agent, agent_api: Api) -> None:
    found = asked(agent_api, informed, privacy_mode="mask", additional_context=f"{ADDRESS} has just called.")
    content = found["content"]
    assert ADDRESS not in content
    assert PHONE not in content
    assert content.count("[e-mail 1]") == 3
    assert "[e-mail 2]" not in content
    assert "[phone 1]" in content
    asked(agent_api, informed)  # does not get the masked answer, nor the other way round
    assert asked(agent_api, informed, privacy_mode="mask", additional_context=f"{ADDRESS} has just called.")[
        "content"
    ] == (content)


def test_a_profile_can_mask_and_a_request_cannot_undo_it(informed: Agent, agent_api: Api, admin_api: Api) -> None:
    shown = admin_api.get("profiles/conversation").json()["content"]
    text = shown.replace("name: conversation", "name: careful").replace(
        "\nsections:", "\nprivacy_mode: mask\nsections:"
    )
    answer = admin_api.post("profiles", {"name": "careful", "content": text})
    assert answer.status_code == 201, answer.content
    content = asked(agent_api, informed, profile="careful", privacy_mode="off")["content"]
    assert ADDRESS not in content
    assert "[e-mail 1]" in content


def test_a_record_has_only_the_masked_text(informed: Agent, agent_api: Api) -> None:
    found = asked(agent_api, informed, privacy_mode="mask")
    assert recorded_texts()
    assert not any(ADDRESS in text for text in recorded_texts())
    replay = agent_api.post(f"assemblies/{found['id']}/replay").json()
    assert replay["identical"] is True


def test_an_appended_event_is_masked_too(informed: Agent, agent_api: Api) -> None:
    found = asked(agent_api, informed, privacy_mode="mask")
    event = {"type": "message", "content": {"text": "bob@example.org called."}}
    answer = agent_api.post(f"assemblies/{found['id']}/append", {"event": event})
    assert answer.status_code == 201, answer.content
    assert "bob@example.org" not in answer.json()["content"]
    assert "[e-mail 2]" in answer.json()["content"]
    costs = [one["metadata"]["cost"] for one in (found, answer.json())]
    assert (costs[0]["rows"] > 0, costs[1]) == (True, None), "what is appended reads no source"


def test_a_value_keeps_its_placeholder_in_what_is_appended(informed: Agent, agent_api: Api) -> None:
    found = asked(agent_api, informed, privacy_mode="mask")
    for text in (f"{ADDRESS.upper()} and new@example.org called.", "New@example.org called from (030) 901820 again."):
        answer = agent_api.post(
            f"assemblies/{found['id']}/append", {"event": {"type": "note", "content": {"text": text}}}
        )
        assert answer.status_code == 201, answer.content
        found = answer.json()
    assert "[e-mail 1] and [e-mail 2] called." in found["content"]
    assert "[e-mail 2] called" in found["content"].partition("again")[0]
    assert "[e-mail 3]" not in found["content"]
    assert not any(value in agent_api.get(f"assemblies/{found['id']}").content.decode() for value in (ADDRESS, PHONE))


@pytest.mark.parametrize("profile", ["conversation", "memory", "coding"])
def test_one_value_has_one_placeholder_wherever_it_stands(
    informed: Agent, agent_api: Api, admin_api: Api, profile: str
) -> None:
    """Files, logs, events, documents, turns, texts of the request, long memories with levels of detail."""
    said = f"Write to {ADDRESS} about the lamp."
    file = informed.files.get(file_key="KNOWLEDGE")
    file_save(file=file, content=f"# Lamps\n\n{said}", expected_version=file.version, author=SYSTEM.author)
    daily_log_append(agent=informed, date=timezone.localdate(), text=said, principal=SYSTEM)
    events_create(agent=informed, facts=[{"type": "message", "content": {"text": said}}], principal=SYSTEM)
    documents_create(agent=informed, facts=[{"path": "lamps.md", "content": said}], principal=SYSTEM)
    long = MemoryFacts(kind="fact", text=f"{said} " + "A lamp has a base and a bulb, and some have a shade. " * 60)
    memories_create(owner=informed, facts=[long], principal=SYSTEM)
    for job in Job.objects.order_by("created"):
        job_run(job_id=job.id)
    found = asked(
        agent_api, informed, topic="Who knows about the lamp?", profile=profile, privacy_mode="mask", max_tokens=2_000,
        history=[{"role": "user", "content": said}], additional_context=said,
    )  # fmt: skip
    assert found["content"].count("[e-mail 1]") >= 4
    assert "[e-mail 2]" not in found["content"]
    decisions = agent_api.get(f"assemblies/{found['id']}/decisions").content.decode()
    everything = [str(found), decisions, str(Assembly.objects.get(id=found["id"]).request), *recorded_texts()]
    assert not [text for text in everything if ADDRESS in text]
    assert agent_api.post(f"assemblies/{found['id']}/replay").json()["identical"] is True


def test_an_unknown_mode_is_refused(informed: Agent, agent_api: Api) -> None:
    answer = agent_api.post("assemblies", {"agent": informed.slug, "privacy_mode": "hide"})
    assert errors_of(answer) == {"privacy_mode"}
