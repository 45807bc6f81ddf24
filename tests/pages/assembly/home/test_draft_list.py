"""A person's drafts: found on Home, readable whatever became of their text, forgotten only on purpose."""

from typing import Any

import pytest

from agents.models import Agent
from agents.services import agent_delete
from teams.models import Membership, Team, User
from teams.principal import Role
from teams.services import membership_remove, membership_set, team_create, team_delete
from teams.versioned_text.drafts import Draft, draft_of, draft_save
from teams.versioned_text.versioned_file import file_save
from tests.pages.conftest import SignedIn, text_of


def draft(person: User, about: str, content: str = "# Half *a*\n\nthought", based_on: int = 1) -> Draft:
    return draft_save(person_id=person.id, about=about, content=content, based_on=based_on, expected_revision=0)


@pytest.fixture
def of_goals(editor: User, team: Team) -> Draft:
    return draft(editor, team.files.get(file_key="GOALS").about)


def test_home_leads_back_to_a_draft(signed_in: SignedIn, editor: User, agent: Agent, of_goals: Draft) -> None:
    draft(editor, agent.files.get(file_key="IDENTITY").about)
    draft(editor, f"daily_log:{agent.id}/2026-03-01", based_on=0)
    page = text_of(signed_in(editor).get("/"))
    for address in ("/teams/demo/files/GOALS/", "/agents/luna/files/IDENTITY/", "/agents/luna/logs/2026-03-01/edit/"):
        assert f'<a class="btn small" href="{address}"' in page
    assert "“Half a thought”" in page
    assert "was published since" not in page


def test_a_draft_that_was_overtaken_says_so(
    signed_in: SignedIn, editor: User, owner: User, team: Team, of_goals: Draft
) -> None:
    goals = team.files.get(file_key="GOALS")
    file_save(file=goals, content="New", expected_version=1, author=owner.principal.author)
    assert "version 2 was published since" in text_of(signed_in(editor).get("/"))


def test_others_do_not_see_it(signed_in: SignedIn, owner: User, admin: User, of_goals: Draft) -> None:
    for person in (owner, admin):
        browser = signed_in(person)
        for address in ("/", "/teams/demo/", "/drafts/"):
            assert "Half a thought" not in text_of(browser.get(address))
        assert browser.get(f"/drafts/{of_goals.id}/").status_code == 404
        assert browser.post(f"/drafts/{of_goals.id}/forget/", {"revision": 1}).status_code == 404
    assert Draft.objects.filter(pk=of_goals.pk).exists()


def test_the_card_of_a_file_says_that_one_has_a_draft(signed_in: SignedIn, editor: User, of_goals: Draft) -> None:
    page = text_of(signed_in(editor).get("/teams/demo/"))
    assert page.count(">draft</span>") == 1
    assert "Continue editing" in page


@pytest.mark.parametrize("became", ["deleted", "forbidden", "of another kind"])
def test_what_was_written_outlives_its_text(
    became: str, signed_in: SignedIn, editor: User, owner: User, agent: Agent
) -> None:
    about = "poem:1" if became == "of another kind" else agent.files.get(file_key="IDENTITY").about
    kept = draft(editor, about, "<b>Luna</b> is")
    if became == "deleted":
        agent_delete(agent=agent, principal=owner.principal)
    elif became == "forbidden":
        Membership.objects.filter(user=editor).update(role=Role.VIEWER)
    browser = signed_in(editor)
    assert "A text that was deleted, or that you may no longer edit" in text_of(browser.get("/"))
    page = text_of(browser.get(f"/drafts/{kept.id}/"))
    assert "&lt;b&gt;Luna&lt;/b&gt; is" in page
    assert "Continue editing" not in page


@pytest.mark.finding("6.1")
@pytest.mark.parametrize("about", ["team_file", "agent_file", "daily_log"])
def test_who_left_the_team_reads_no_drafts_of_its_texts(
    about: str, signed_in: SignedIn, editor: User, agent: Agent, team: Team
) -> None:
    texts = {
        "team_file": team.files.get(file_key="GOALS").about,
        "agent_file": agent.files.get(file_key="IDENTITY").about,
        "daily_log": f"daily_log:{agent.id}/2026-03-01",
    }
    one = draft(editor, texts[about], "Secret of the team")
    browser = signed_in(editor)
    for page in ("/", "/drafts/", f"/drafts/{one.id}/"):
        assert "Secret of the team" in text_of(browser.get(page))
    membership_remove(team=team, user=editor)
    for page in ("/", "/drafts/"):
        assert "Secret of the team" not in text_of(browser.get(page))
    for page in (f"/drafts/{one.id}/", f"/drafts/{one.id}/forget/"):
        assert browser.get(page).status_code == 404
    assert browser.post(f"/drafts/{one.id}/forget/", {"revision": one.revision}).status_code == 404
    membership_set(team=team, user=editor, role=Role.EDITOR)
    assert "Secret of the team" in text_of(browser.get(f"/drafts/{one.id}/")), "it waited"


@pytest.mark.finding("6.1")
def test_drafts_of_who_left_do_not_come_back_when_the_team_is_deleted(
    signed_in: SignedIn, editor: User, owner: User, agent: Agent, team: Team
) -> None:
    other = team_create(slug="other", name="Other")
    texts = (team.files.get(file_key="GOALS").about, f"daily_log:{agent.id}/2026-03-01", other.files.all()[0].about)
    for person in (editor, owner):
        for about in texts:
            draft(person, about)
    membership_remove(team=team, user=editor)
    agent_delete(agent=agent, principal=owner.principal)
    team_delete(team=team, principal=owner.principal)
    assert [each.about for each in Draft.objects.filter(person=editor)] == [texts[2]]
    assert Draft.objects.filter(person=owner).count() == 3
    assert text_of(signed_in(owner).get("/drafts/")).count("Half a thought") == 4, (
        "each with its name and its beginning"
    )


def test_it_is_forgotten_on_purpose(signed_in: SignedIn, editor: User, of_goals: Draft) -> None:
    response = signed_in(editor).post(f"/drafts/{of_goals.id}/forget/", {"revision": of_goals.revision}, follow=True)
    assert "Draft deleted. The published text is not changed." in text_of(response)
    assert draft_of(editor.id, of_goals.about) is None


def test_it_is_not_forgotten_when_its_author_went_on(signed_in: SignedIn, editor: User, of_goals: Draft) -> None:
    seen = of_goals.revision
    draft_save(person_id=editor.id, about=of_goals.about, content="More", based_on=1, expected_revision=seen)
    browser = signed_in(editor)
    for sent in ({"revision": str(seen)}, {}, {"revision": "x"}):
        response = browser.post(f"/drafts/{of_goals.id}/forget/", sent, follow=True)
        assert "The draft was changed meanwhile, so it was not deleted. Its current text is below." in text_of(response)
        assert "More" in text_of(response)
    kept = draft_of(editor.id, of_goals.about)
    assert kept is not None
    assert kept.content == "More"


def test_all_drafts_are_on_a_page_of_their_own(
    signed_in: SignedIn, editor: User, agent: Agent, team: Team, django_assert_num_queries: Any
) -> None:
    browser = signed_in(editor)
    assert "No drafts" in text_of(browser.get("/drafts/"))
    for file in (*agent.files.all(), *team.files.all()):
        draft(editor, file.about)
    assert "All drafts" in text_of(browser.get("/"))
    with django_assert_num_queries(5):
        page = text_of(browser.get("/drafts/"))
    assert page.count("Continue editing") == 6
