"""What will the agents see? A draft in the context beside the one that is told now: the page, and the panel."""

import re
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from agents.models import Agent, AgentTeam, DailyLog
from agents.services import agent_create
from assembly.models import Assembly
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.simulation.draft_preview import services
from teams.models import Team, User
from teams.principal import SYSTEM, Role
from teams.services import membership_set, team_create
from teams.versioned_text.drafts import Draft, draft_save
from teams.versioned_text.versioned_file import MAX_FILE_CHARACTERS, VersionedFile, file_save
from tests.pages.conftest import SignedIn, text_of

GOALS = "/teams/demo/files/GOALS/preview/"
KNOWLEDGE = "/agents/luna/files/KNOWLEDGE/preview/"
LONG = "\n\n".join(f"Goal {number}: ship the demo, and tell everybody who waits for it." for number in range(60))
FACTS = LONG.replace("Goal", "Fact").replace("ship", "we have")
HTMX = {"HX-Request": "true"}


@pytest.fixture
def browser(signed_in: SignedIn, editor: User) -> Client:
    return signed_in(editor)


@pytest.fixture(autouse=True)
def _known(agent: Agent) -> None:
    """The agent knows something that is cut where there is no room."""
    knowledge = agent.files.get(file_key="KNOWLEDGE")
    file_save(file=knowledge, content=FACTS, expected_version=1, author=SYSTEM.author)


def goals_of(team: Team) -> VersionedFile:
    file: VersionedFile = team.files.get(file_key="GOALS")
    return file


def drafted(person: User, file: VersionedFile, content: str) -> Draft:
    return draft_save(
        person_id=person.id, about=file.about, content=content, based_on=file.version, expected_revision=0
    )


def addresses(agent: Agent) -> list[str]:
    return [GOALS, KNOWLEDGE, f"/agents/luna/logs/{agent.today(timezone.now())}/preview/"]


def test_who_may_edit_may_look(signed_in: SignedIn, agent: Agent, admin: User, request: pytest.FixtureRequest) -> None:
    people = {"owner": 200, "editor": 200, "admin": 200, "teammate": 403, "outsider": 404}
    for address in addresses(agent):
        for name, status in people.items():
            person = request.getfixturevalue(name)
            client = signed_in(person)
            assert client.get(address).status_code == status, (address, person)
            assert client.get(address, headers=HTMX).status_code == status
            assert client.post(address, {"version": 1, "content": "x"}).status_code == status
    assert signed_in(admin).get("/agents/nobody/files/KNOWLEDGE/preview/").status_code == 404
    assert signed_in(admin).put(GOALS).status_code == 405


def test_a_draft_is_looked_at_by_its_author_alone(
    signed_in: SignedIn, browser: Client, editor: User, owner: User, team: Team
) -> None:
    drafted(editor, goals_of(team), LONG)
    page = text_of(browser.get(GOALS, {"topic": "", "agent": "luna", "max_tokens": "1000", "profile": ""}))
    assert "Knowledge would be truncated: the last " in page
    assert "Goals would be included." in page
    assert "<h2>Truncated</h2>" in page
    assert "The context with your draft of Goals" in page
    assert re.search(r'<tr class="added">.*Goal 0', page, re.DOTALL)
    assert '<tr class="removed">' in page
    others = text_of(signed_in(owner).get(GOALS))
    assert "Goal 0" not in others.partition("Both contexts")[0]
    assert "You have no draft of Goals" in others
    assert "The context is unchanged." in others
    assert not Assembly.objects.exists()


def test_without_javascript_the_text_comes_from_the_editor_and_goes_back(
    browser: Client, editor: User, team: Team
) -> None:
    drafted(editor, goals_of(team), "An older draft.")
    text = "\r\n  Ship <b>it</b>.\r\n\r\nAnd more."
    page = text_of(browser.post(GOALS, {"version": "1", "content": text}))
    assert "your text of Goals" in page
    assert "An older draft" not in page
    assert "Ship &lt;b&gt;it&lt;/b&gt;." in page
    assert '<textarea name="content" hidden>\n\n  Ship &lt;b&gt;it&lt;/b&gt;.\n\nAnd more.</textarea>' in page
    assert 'formaction="/teams/demo/files/GOALS/"' in page
    again = browser.post(GOALS, {"version": "1", "content": text, "topic": "the demo", "agent": "luna"})
    assert again.status_code == 200
    assert goals_of(team).version == 1


def test_a_text_that_cannot_be_used_is_not_lost(browser: Client, team: Team) -> None:
    for content, words in (
        ("x" * (MAX_FILE_CHARACTERS + 1), "the maximum is 1,000,000"),
        ("a\x00b", "Null characters"),
    ):
        response = browser.post(GOALS, {"version": "1", "content": content})
        assert response.status_code == 422
        assert words in text_of(response)
        assert f">\n{content}</textarea>" in text_of(response)
    incomplete = browser.post(GOALS, {"content": "Mine."})
    assert incomplete.status_code == 422
    assert "The request was incomplete. Go back to the text and try again." in text_of(incomplete)
    assert ">\nMine.</textarea>" in text_of(incomplete)


@pytest.mark.parametrize(
    "wishes",
    [
        {"max_tokens": "-1"},
        {"max_tokens": "many"},
        {"agent": "nobody"},
        {"profile": "nope"},
        {"topic": "x" * 4_001},
    ],
)
def test_wishes_that_cannot_be_fulfilled_come_back_with_the_form(wishes: dict[str, str], browser: Client) -> None:
    response = browser.get(GOALS, {"topic": "", "agent": "luna", **wishes})
    assert response.status_code == 422
    assert 'class="fault"' in text_of(response)
    assert "Both contexts" not in text_of(response)


def test_the_agent_of_the_newest_context_comes_first(browser: Client, team: Team, agent: Agent) -> None:
    agent_create(slug="ada", name="Ada", teams=[team])
    assert "<h1>Impact on contexts: Ada</h1>" in text_of(browser.get(GOALS))
    assemble(agent=agent, team=team, asked=AssemblyRequest(), principal=SYSTEM)
    page = text_of(browser.get(GOALS))
    assert "<h1>Impact on contexts: Luna</h1>" in page
    assert [*re.findall(r'<option value="([^"]+)"', page)][:3] == ["luna", "ada", "*"]


def test_an_agents_text_is_looked_at_in_one_of_its_teams_or_none(
    browser: Client, editor: User, agent: Agent, team: Team
) -> None:
    file_save(file=goals_of(team), content="Ship it.", expected_version=1, author=SYSTEM.author)
    hidden = team_create(slug="hidden", name="Hidden")
    AgentTeam.objects.create(agent=agent, team=hidden)
    drafted(editor, agent.files.get(file_key="KNOWLEDGE"), "Short.")
    page = text_of(browser.get(KNOWLEDGE))
    assert "Goals" in page
    assert '<option value="demo" selected>' in page
    assert "Hidden" not in page
    assert "Goals" not in text_of(browser.get(KNOWLEDGE, {"topic": "", "team": ""}))
    assert browser.get(KNOWLEDGE, {"topic": "", "team": "hidden"}).status_code == 422


def test_a_day_without_a_log_can_be_looked_at(browser: Client, editor: User, agent: Agent) -> None:
    today = agent.today(timezone.now())
    drafted(editor, DailyLog(agent=agent, date=today, version=0), "Rehearsed twice.")
    page = text_of(browser.get(f"/agents/luna/logs/{today}/preview/"))
    assert "Rehearsed twice." in page
    assert "Daily logs would be included." in page


def test_all_agents_of_a_team_are_told_in_one_list(
    browser: Client, editor: User, team: Team, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        agent_create(slug=f"a-{number}", name=f"Agent {number}", teams=[team])
    drafted(editor, goals_of(team), "Ship it.")
    page = text_of(browser.get(GOALS, {"topic": "the & demo", "agent": "*"}))
    assert page.count("No content is displaced.") == 4
    assert "topic=the%20%26%20demo" in page
    monkeypatch.setattr(services, "MAX_AGENTS", 2)
    assert "2 more agents were not calculated in time" in text_of(browser.get(GOALS, {"topic": "", "agent": "*"}))
    monkeypatch.setattr(services, "SECONDS", -1.0)
    assert "3 more agents were not calculated in time" in text_of(browser.get(GOALS, {"topic": "", "agent": "*"}))


def test_a_team_without_agents_says_so(signed_in: SignedIn, editor: User) -> None:
    membership_set(team=team_create(slug="new", name="New"), user=editor, role=Role.EDITOR)
    browser = signed_in(editor)
    address = "/teams/new/files/GOALS/preview/"
    assert "No agent uses this text yet" in text_of(browser.get(address))
    assert "No agent uses this text yet" in text_of(browser.post(address, {"version": "1", "content": "x"}))
    assert "There are no agents in this team yet, so" in text_of(browser.get(address, headers=HTMX))


def test_the_editor_has_a_panel_that_sends_the_text_without_javascript(browser: Client) -> None:
    for editor_page, address in (
        ("/teams/demo/files/GOALS/", GOALS),
        ("/agents/luna/files/KNOWLEDGE/", KNOWLEDGE),
        ("/agents/luna/logs/2026-03-01/edit/", "/agents/luna/logs/2026-03-01/preview/"),
    ):
        page = text_of(browser.get(editor_page))
        assert f'hx-get="{address}"' in page
        assert f'form="editor" formaction="{address}"' in page


def test_the_panel_tells_the_draft_in_a_few_lines(browser: Client, editor: User, team: Team) -> None:
    empty = text_of(browser.get(GOALS, headers=HTMX))
    assert "You have no draft. See what" in empty
    assert "<html" not in empty
    drafted(editor, goals_of(team), "Ship it.")
    panel = text_of(browser.get(GOALS, headers=HTMX))
    assert "No content is displaced. Goals would be included." in panel
    assert "data-announce" in panel
    assert "data-focus" not in panel
    said = re.search(r"\?said=([0-9a-f]+)", panel)
    assert said
    assert "data-announce" not in text_of(browser.get(GOALS, {"said": said[1]}, headers=HTMX))


def test_the_topic_chosen_last_is_kept_for_the_next_text(browser: Client, editor: User, team: Team) -> None:
    browser.get(GOALS, {"topic": "the demo", "agent": "luna"})
    assert 'value="the demo"' in text_of(browser.get(KNOWLEDGE))
    drafted(editor, goals_of(team), "Ship it.")
    assert "For Luna, topic “the demo”." in text_of(browser.get(GOALS, headers=HTMX))


def test_more_agents_cost_the_panel_no_more_queries(
    browser: Client, editor: User, team: Team, django_assert_num_queries: Any
) -> None:
    drafted(editor, goals_of(team), "Ship it.")
    browser.get(GOALS, headers=HTMX)
    for number in range(3):
        agent_create(slug=f"z-{number}", name=f"Z {number}", teams=[team])
    with django_assert_num_queries(10):  # the same draft again is not run again
        browser.get(GOALS, headers=HTMX)
    Draft.objects.update(content="Ship it soon.")
    with django_assert_num_queries(13):
        browser.get(GOALS, headers=HTMX)
