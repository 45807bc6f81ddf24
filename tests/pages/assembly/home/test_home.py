"""Home: what is mine, what changed, what may need a look."""

import datetime
import re
from typing import Any

import pytest

from agents.models import Agent
from agents.services import agent_create, daily_log_append, daily_log_replace
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from teams.models import Team, User
from teams.principal import SYSTEM, Principal
from teams.services import team_create
from teams.versioned_text.drafts import draft_save
from teams.versioned_text.versioned_file import file_save
from tests.pages.conftest import SignedIn, text_of
from tests.pages.editor_actions import write

DAY = datetime.date(2026, 3, 1)


def write_knowledge(agent: Agent, text: str, author: User) -> None:
    file = agent.files.get(file_key="KNOWLEDGE")
    file_save(file=file, content=text, expected_version=file.version, author=author.principal.author)


def test_somebody_without_a_team_is_told_the_first_step(signed_in: SignedIn, outsider: User, team: Team) -> None:
    page = text_of(signed_in(outsider).get("/"))
    assert "You are not in a team yet" in page
    assert "<b>otto</b>" in page
    assert "Demo" not in page


def test_an_admin_of_an_empty_installation_makes_the_first_team(signed_in: SignedIn, admin: User) -> None:
    assert "Create a team" in text_of(signed_in(admin).get("/"))


def test_changes_name_who_made_them(signed_in: SignedIn, teammate: User, owner: User, team: Team, agent: Agent) -> None:
    write(team, "Ship it.", owner)
    page = text_of(signed_in(teammate).get("/"))
    assert "<h3>Olga Owner" in page
    assert "/teams/demo/files/GOALS/history/compare/?from=1&amp;to=2" in page
    assert "<h3>Dossier" not in page


def test_what_one_person_did_to_one_text_on_one_day_is_one_line(
    signed_in: SignedIn, owner: User, editor: User, team: Team
) -> None:
    for text, note in (("A", "Started"), ("B", "Shorter"), ("C", "")):
        write(team, text, owner, note=note)
    write(team, "D", editor)
    page = text_of(signed_in(owner).get("/"))
    assert "versions 2 to 4," in page
    assert "“Shorter” · “Started”" in page
    assert "history/compare/?from=1&amp;to=4" in page
    assert "history/compare/?from=4&amp;to=5" in page


def test_that_an_agent_wrote_its_log_is_no_news_but_a_correction_is(
    signed_in: SignedIn, owner: User, agent: Agent
) -> None:
    log = daily_log_append(agent=agent, date=DAY, text="Met.", principal=Principal(kind="agent_key", name="Luna's key"))
    browser = signed_in(owner)
    assert "Log of 1 March" not in text_of(browser.get("/"))
    daily_log_replace(log=log, content="Met Mara.", expected_version=1, principal=owner.principal)
    page = text_of(browser.get("/"))
    assert "Log of 1 March" in page
    assert "Luna&#x27;s key" not in page


def test_files_without_room_are_shown_to_those_who_can_shorten_them(
    signed_in: SignedIn, editor: User, teammate: User, owner: User, agent: Agent
) -> None:
    write_knowledge(agent, "word " * 2_500, owner)
    page = text_of(signed_in(editor).get("/"))
    assert "/ 2,000 tokens: the end is truncated" in page
    assert "/agents/luna/files/KNOWLEDGE/" in page
    assert "Files over the limit" not in text_of(signed_in(teammate).get("/"))


def test_a_file_of_many_letters_and_few_tokens_has_room(signed_in: SignedIn, owner: User, agent: Agent) -> None:
    write_knowledge(agent, "internationalisation " * 300, owner)  # more than 2,000 bytes
    page = text_of(signed_in(owner).get("/"))
    assert "Files over the limit" not in page
    assert "You're all caught up." in page


def test_nothing_of_other_teams_is_shown(signed_in: SignedIn, outsider: User, owner: User, agent: Agent) -> None:
    team = team_create(slug="other", name="Other", principal=outsider.principal)
    write(team, "Secret", outsider)
    agent_create(slug="kit", name="Kit", teams=[team])
    page = text_of(signed_in(owner).get("/"))
    assert "Other" not in page
    assert "Kit" not in page


def test_contexts_over_their_budget_are_shown(signed_in: SignedIn, owner: User, team: Team, agent: Agent) -> None:
    assemble(agent=agent, team=team, principal=SYSTEM, asked=AssemblyRequest(max_tokens=1))
    assert "over budget" in text_of(signed_in(owner).get("/"))


def test_home_takes_few_queries(
    signed_in: SignedIn, owner: User, team: Team, agent: Agent, django_assert_num_queries: Any
) -> None:
    for number in range(12):
        write(team, str(number), owner)
        agent_create(slug=f"agent-{number}", name=f"Agent {number}", teams=[team])
        assemble(agent=agent, team=team, principal=owner.principal, asked=AssemblyRequest(max_tokens=1))
    browser = signed_in(owner)
    with django_assert_num_queries(15):
        browser.get("/")
    for file in (*agent.files.all(), *team.files.all()):
        draft_save(person_id=owner.id, about=file.about, content="x", based_on=1, expected_revision=0)
    about = f"daily_log:{agent.id}/2026-03-01"
    draft_save(person_id=owner.id, about=about, content="x", based_on=0, expected_revision=0)
    with django_assert_num_queries(19):
        browser.get("/")


@pytest.mark.finding("E25")
def test_a_text_has_the_same_number_of_tokens_on_every_page(signed_in: SignedIn, owner: User, agent: Agent) -> None:
    browser = signed_in(owner)
    file_save(
        file=agent.files.get(file_key="IDENTITY"),
        content="You are Luna.",
        expected_version=1,
        author=owner.principal.author,
    )
    size = text_of(browser.post("/size/IDENTITY/", {"content": "You are Luna."}))
    tokens = re.search(r"(\d+) tokens? · always included", size)
    assert tokens
    assert f"{tokens[1]} tokens · always included" in text_of(browser.get("/agents/luna/"))
