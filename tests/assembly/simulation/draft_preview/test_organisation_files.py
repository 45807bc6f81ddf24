"""A draft of a file of the organisation is shown in the contexts of agents as publishing it would change them."""

import pytest

from agents.models import Agent
from agents.services import agent_create
from assembly.comparison.side_by_side import SideBySide
from assembly.pipeline.answer_cache import AssemblyCache
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.simulation.draft_preview import services as previews
from assembly.simulation.draft_preview.services import preview_drafts, preview_drafts_by_agent
from teams.models import OrganisationFile, Team
from teams.organisation.services import organisation_file_create
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_save
from tests.client import Api, errors_of

pytestmark = pytest.mark.django_db
SOUND = "How do we sound?"
LOCKED = "# Doors\n\nThe door of the archive is locked at six."
PRICES = "Prices are in euros, with the tax. " * 60
VOICE = "# How we sound\n\nPlain words.\n\n# Dates\n\nDates are written as 3 December."


@pytest.fixture(autouse=True)
def _nothing_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(previews, "kept", AssemblyCache[SideBySide]())


@pytest.fixture
def voice(db: None) -> OrganisationFile:
    organisation_file_create(key="doors", title="Doors", content=LOCKED, principal=SYSTEM)
    return organisation_file_create(key="brand-voice", title="Brand voice", content=VOICE, principal=SYSTEM)


def previewed(
    agent: Agent, team: Team | None, file: OrganisationFile, text: str, profile: str = "memory"
) -> SideBySide:
    asked = AssemblyRequest(topic=SOUND, profile=profile)
    return preview_drafts(agent=agent, team=team, asked=asked, texts={file.about: text})


def assembled(agent: Agent, team: Team | None) -> str:
    asked = AssemblyRequest(topic=SOUND, profile="memory")
    return assemble(agent=agent, team=team, principal=SYSTEM, asked=asked).content


@pytest.mark.parametrize("text", ["", "Like foghorns.", VOICE.replace("Plain words.", "Like foghorns."), VOICE * 30])
def test_publishing_makes_the_context_that_the_preview_showed(
    text: str, agent: Agent, team: Team, voice: OrganisationFile
) -> None:
    found = previewed(agent, team, voice, text)
    assert found.before.content == assembled(agent, team)
    file_save(file=voice, content=text, expected_version=1, author=SYSTEM.author)
    assert found.after.content == assembled(agent, team)


def test_the_mark_of_a_cut_names_the_version_that_publishing_gives(
    agent: Agent, team: Team, voice: OrganisationFile
) -> None:
    text = "# How we sound\n\n" + "\n\n".join(f"Like foghorns, {number} times a day." for number in range(40))
    strategy = {"lod": "atomic", "top_k": {"organisation": 1}}
    asked = AssemblyRequest(topic=SOUND, profile="memory", max_tokens=100, strategy=strategy)
    found = preview_drafts(agent=agent, team=team, asked=asked, texts={voice.about: text})
    file_save(file=voice, content=text, expected_version=1, author=SYSTEM.author)
    published = assemble(agent=agent, team=team, principal=SYSTEM, asked=asked).content
    assert "brand-voice v2]" in published
    assert found.after.content == published


def test_passages_that_stay_the_same_are_no_changes(agent: Agent, team: Team, voice: OrganisationFile) -> None:
    assert previewed(agent, team, voice, VOICE).comparison.is_same
    below = f"# Prices\n\n{PRICES}\n\n{VOICE}"
    found = previewed(agent, team, voice, below).comparison
    assert found.pushed_out == ()
    assert found.newly_in
    assert {change.decision.ref for change in found.newly_in} <= {f"{voice.about}@draft#{n}" for n in range(9)}


def test_a_changed_passage_is_a_change_and_not_two(agent: Agent, team: Team, voice: OrganisationFile) -> None:
    found = previewed(agent, team, voice, VOICE.replace("Plain words.", "Like foghorns.")).comparison
    assert (found.pushed_out, found.newly_in) == ((), ())
    assert [(change.effect, change.decision.ref) for change in found.changes] == [("changed", f"{voice.ref}#0")]


def test_every_agent_is_previewed_in_its_team(agent: Agent, team: Team, voice: OrganisationFile) -> None:
    alone = agent_create(slug="otto", name="Otto")
    teams = {agent.id: team, alone.id: None}
    found = preview_drafts_by_agent(
        agents=[agent, alone],
        team_of=lambda one: teams[one.id],
        asked=AssemblyRequest(topic=SOUND, profile="memory"),
        texts={voice.about: "Like foghorns."},
    )
    contexts = {one.slug: trial.after.content for one, trial in found}
    assert contexts.keys() == {"ada", "otto"}
    assert all("Like foghorns." in content for content in contexts.values())


def test_a_profile_without_the_section_has_no_passages(agent: Agent, team: Team, voice: OrganisationFile) -> None:
    assert previewed(agent, team, voice, "Like foghorns.", "conversation").comparison.is_same


def test_over_rest_texts_are_named_by_key(agent_api: Api, agent: Agent, voice: OrganisationFile) -> None:
    body = {"agent": agent.slug, "topic": SOUND, "profile": "memory", "include": ["content"]}
    found = agent_api.post("draft-previews", {**body, "organisation_files": {"brand-voice": "Like foghorns."}}).json()
    assert "Like foghorns." in found["after"]["content"]
    assert "Like foghorns." not in found["before"]["content"]
    unknown = agent_api.post("draft-previews", {**body, "organisation_files": {"nothing": "x"}})
    assert errors_of(unknown) == {"organisation_files.nothing"}
    for key in ("a\0b", "\ud800", "x" * 10_000):
        wrong = agent_api.post("draft-previews", {**body, "organisation_files": {key: "x"}})
        assert wrong.status_code == 422, wrong.content
