"""The pages of conflicts: who sees them, who decides, what each decision would do, and undo."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from agents.models import Agent
from agents.services import agent_create
from assembly.conflicts import views
from assembly.conflicts.services import Choice, OutdatedConflict, conflict_resolve
from assembly.models import AlertKind, Conflict, Purpose
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from memories.models import Memory
from memories.services import facts_of, memory_update
from teams.models import Team, User
from teams.organisation.services import organisation_file_create
from teams.principal import SYSTEM, Role
from teams.services import membership_set, team_create
from teams.versioned_text.versioned_file import file_save
from tests.assembly.conflicts.conflict_factories import EIGHTY, NINETY, conflict_between, remember, run_jobs
from tests.assembly.monitoring.alerts.alert_factories import alert_on
from tests.pages.conftest import SignedIn, text_of

LIST = "/conflicts/"
Queries = Callable[[int], AbstractContextManager[Any]]


@pytest.fixture
def conflict(agent: Agent) -> Conflict:
    return conflict_between(remember(agent, EIGHTY), remember(agent, NINETY, credibility=0.9))


@pytest.fixture
def browser(signed_in: SignedIn, editor: User) -> Client:
    return signed_in(editor)


def page_of(conflict: Conflict) -> str:
    return f"{LIST}{conflict.id}/"


def test_both_texts_are_side_by_side_with_the_differing_words_marked(browser: Client, conflict: Conflict) -> None:
    page = text_of(browser.get(page_of(conflict)))
    for words in (
        "Two texts name different numbers",
        "opens at <mark>8</mark> in the",
        "opens at <mark>9</mark> in the",
        "Memory of Luna",
        "0.90 of 1",
        f'href="/memories/{conflict.left_item}/edit/"',
        "The other memory is superseded by this one",
        "Until somebody decides",
        "Nobody has decided yet.",
    ):
        assert words in page, words


def test_what_a_language_model_found_says_so(browser: Client, agent: Agent) -> None:
    cue = "The language model tiny-nli@0123456789ab finds that one contradicts the other (probability 99 %)."
    found = conflict_between(
        remember(agent, "The school canteen cooks vegan food."),
        remember(agent, "Beef stew is what the school canteen cooks on most days."),
        kind="meaning",
        model="tiny-nli@0123456789ab",
        cue=cue,
    )
    page = text_of(browser.get(page_of(found)))
    assert "One text contradicts the other one" in page
    assert cue in page
    assert "One text contradicts the other one" in text_of(browser.get(f"{LIST}?kind=meaning"))
    assert "One text contradicts the other one" not in text_of(browser.get(f"{LIST}?kind=property"))


def test_a_decision_and_its_undo(browser: Client, conflict: Conflict) -> None:
    page = text_of(
        browser.post(f"{page_of(conflict)}resolve/", {"choice": "left", "reason": "Since May."}, follow=True)
    )
    assert "The first text holds: Memory of Luna. Decided by Edda" in page
    assert "“Since May.”" in page
    assert "This one holds" not in page
    assert Memory.objects.get(id=conflict.right_item).superseded_by_id == conflict.left_item
    page = text_of(browser.post(f"{page_of(conflict)}undo/", follow=True))
    assert "The conflict is open again" in page
    assert "This one holds" in page
    assert Memory.objects.get(id=conflict.right_item).stands
    assert [decision.action for decision in conflict.decisions.all()] == ["resolve", "undo"]


@pytest.mark.parametrize("body", [{}, {"choice": "middle"}, {"choice": "left", "reason": "x" * 1_001}])
def test_a_decision_that_is_none_is_refused(body: dict[str, str], browser: Client, conflict: Conflict) -> None:
    answer = browser.post(f"{page_of(conflict)}resolve/", body)
    assert answer.status_code == 422
    assert Conflict.objects.get().is_open


def test_deciding_twice_says_who_decided(browser: Client, conflict: Conflict, owner: User) -> None:
    conflict_resolve(conflict=conflict, choice="both", principal=owner.principal)
    page = text_of(browser.post(f"{page_of(conflict)}resolve/", {"choice": "left"}, follow=True))
    assert "Olga Owner decided already." in page
    browser.post(f"{page_of(conflict)}undo/")
    assert "Nobody has decided on this conflict" in text_of(browser.post(f"{page_of(conflict)}undo/", follow=True))


def test_what_was_entered_is_shown_after_somebody_else_decided(
    browser: Client, conflict: Conflict, owner: User
) -> None:
    sent = {"choice": "edit_left", "left_text": "It opens at 9 <sharp>.", "right_text": NINETY, "reason": "Since May."}
    conflict_resolve(conflict=conflict, choice="both", principal=owner.principal)
    answer = browser.post(f"{page_of(conflict)}resolve/", sent)
    page = text_of(answer)
    assert answer.status_code == 409
    for words in (
        "Olga Owner decided already.",
        "Both texts hold. Decided by Olga Owner",
        "What you entered was not saved",
        ">It opens at 9 &lt;sharp&gt;.</pre>",
        ">Since May.</pre>",
    ):
        assert words in page, words
    assert "Save this text" not in page
    assert "What you entered" not in text_of(browser.post(f"{page_of(conflict)}resolve/", {"choice": "left"}))
    assert "What you entered" not in text_of(browser.get(page_of(conflict)))


def test_what_was_entered_is_shown_after_the_other_side_was_saved(browser: Client, conflict: Conflict) -> None:
    memory = Memory.objects.get(id=conflict.right_item)
    facts = replace(facts_of(memory), text="The support line is shut.")
    memory_update(memory=memory, expected_version=1, facts=facts, superseded_by=None, principal=SYSTEM)
    sent = {"choice": "edit_left", "left_text": "It opens at 9.", "right_text": NINETY, "reason": "Since May."}
    answer = browser.post(f"{page_of(conflict)}resolve/", sent)
    assert answer.status_code == 409
    assert ">It opens at 9.</pre>" in text_of(answer)
    assert Memory.objects.get(id=conflict.left_item).version == 1


def test_a_form_that_can_still_be_sent_keeps_what_was_entered(
    browser: Client, conflict: Conflict, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: object) -> None:
        raise OutdatedConflict("A text was changed at this moment.")

    monkeypatch.setattr(views, "conflict_edit", refuse)
    sent = {"choice": "edit_left", "left_text": "It opens at 9.", "right_text": NINETY, "reason": "Since May."}
    answer = browser.post(f"{page_of(conflict)}resolve/", sent)
    page = text_of(answer)
    assert answer.status_code == 409
    assert "It opens at 9.</textarea>" in page
    assert "Since May.</textarea>" in page
    assert "What you entered was not saved" not in page


def test_a_text_that_was_changed_since_cannot_be_decided(browser: Client, conflict: Conflict) -> None:
    memory = Memory.objects.get(id=conflict.left_item)
    facts = facts_of(memory)
    memory_update(
        memory=memory, expected_version=1, facts=type(facts)(kind="fact", text="It is shut."), superseded_by=None,
        principal=SYSTEM,
    )  # fmt: skip
    page = text_of(browser.get(page_of(conflict)))
    assert "changed since" in page
    assert "This one holds" not in page
    assert "changed since" in text_of(browser.post(f"{page_of(conflict)}resolve/", {"choice": "both"}, follow=True))


def test_a_conflict_that_is_not_found_again_says_so(browser: Client, agent: Agent) -> None:
    first, second = remember(agent, "Tea is served at noon."), remember(agent, "Tea is served in the hall.")
    run_jobs()
    conflict = conflict_between(first, second)
    assert "This one holds" in text_of(browser.get(page_of(conflict)))
    call_command("find_conflicts", verbosity=0)
    run_jobs()
    page = text_of(browser.get(page_of(conflict)))
    assert "Detection no longer finds it" in page
    assert "One of the texts was changed" not in page
    assert "This one holds" not in page
    listed = text_of(browser.get(f"{LIST}?status=gone"))
    assert "not found again" in listed
    assert "Detection no longer finds this conflict." in text_of(
        browser.post(f"{page_of(conflict)}resolve/", {"choice": "both"}, follow=True)
    )


def test_a_file_against_a_memory(browser: Client, agent: Agent, team: Team) -> None:
    remember(agent, EIGHTY)
    file = team.files.get(file_key="CONTEXT")
    file_save(file=file, content=f"# Hours\n\n{NINETY}", expected_version=file.version, author=SYSTEM.author)
    run_jobs()
    conflict = Conflict.objects.get()
    page = text_of(browser.get(page_of(conflict)))
    assert "Background of Demo stays as it is. Contexts leave this passage out if the text that holds is among" in page
    assert "contexts without that text, or with the whole file, keep the passage" in page
    assert "is archived with your reason" in page
    assert 'href="/teams/demo/files/CONTEXT/"' in page
    for address in ("/teams/demo/files/CONTEXT/", "/teams/demo/files/CONTEXT/history/2/"):
        assert page_of(conflict) in text_of(browser.get(address)), address
    holds = "left" if conflict.left_ref.startswith("memory") else "right"
    browser.post(f"{page_of(conflict)}resolve/", {"choice": holds})
    assert Conflict.objects.get().resolution == holds
    page = text_of(browser.get("/teams/demo/files/CONTEXT/"))
    assert "is disputed" not in page
    assert "Edda decided that another text holds." in page
    assert page_of(conflict) in page


def test_texts_of_the_organisation_are_for_its_admins(
    browser: Client, signed_in: SignedIn, admin: User, agent: Agent
) -> None:
    remember(agent, EIGHTY)
    organisation_file_create(key="hours", title="Hours", content=NINETY, principal=SYSTEM)
    run_jobs()
    conflict = Conflict.objects.get()
    page = text_of(browser.get(page_of(conflict)))
    assert "Hours of the organisation" in page
    assert "This one holds" not in page
    assert browser.post(f"{page_of(conflict)}resolve/", {"choice": "both"}).status_code == 403
    assert "This one holds" in text_of(signed_in(admin).get(page_of(conflict)))


def test_contexts_that_included_a_side_are_listed(
    browser: Client, conflict: Conflict, agent: Agent, team: Team
) -> None:
    for topic in ("When does the support line open?", ""):
        asked = AssemblyRequest(topic=topic, profile="memory", now=timezone.now(), purpose=Purpose.AGENT)
        assemble(agent=agent, team=team, asked=asked, principal=SYSTEM)
    page = text_of(browser.get(page_of(conflict)))
    assert "When does the support line open?" in page
    assert "None that you may see" not in page


def test_the_page_of_a_context_leads_to_the_conflicts_that_it_warns_of(
    browser: Client, conflict: Conflict, agent: Agent, team: Team
) -> None:
    asked = AssemblyRequest(topic="When does the support line open?", profile="memory", purpose=Purpose.AGENT)
    made = assemble(agent=agent, team=team, asked=asked, principal=SYSTEM).assembly
    page = text_of(browser.get(f"/contexts/{made.id}/"))
    for words in ("Texts that contradict each other", page_of(conflict), EIGHTY, NINETY, "Open"):
        assert words in page, words
    conflict_resolve(conflict=conflict, choice="both", principal=SYSTEM)
    assert "Resolved" in text_of(browser.get(f"/contexts/{made.id}/")), "as it is now"
    decided = assemble(agent=agent, team=team, asked=asked, principal=SYSTEM).assembly
    assert page_of(conflict) not in text_of(browser.get(f"/contexts/{decided.id}/"))


def test_a_file_that_a_context_has_whole_keeps_what_was_decided_against_and_its_page_says_so(
    browser: Client, agent: Agent, team: Team, editor: User
) -> None:
    remember(agent, EIGHTY)
    file = team.files.get(file_key="CONTEXT")
    file_save(file=file, content=f"# Hours\n\n{NINETY}", expected_version=file.version, author=SYSTEM.author)
    run_jobs()
    conflict = Conflict.objects.get()
    holds: Choice = "left" if conflict.left_ref.startswith("memory") else "right"
    conflict_resolve(conflict=conflict, choice=holds, principal=editor.principal)
    asked = AssemblyRequest(topic="When does the support line open?", profile="coding", purpose=Purpose.AGENT)
    made = assemble(agent=agent, team=team, asked=asked, principal=SYSTEM)
    assert f"(decided: this holds against another text) {EIGHTY}" in made.content
    assert NINETY in made.content
    page = text_of(browser.get(f"/contexts/{made.assembly.id}/"))
    assert page_of(conflict) in page
    assert "Edda decided which one holds. Where a context includes a whole file" in page
    assert "contexts that include it whole have it until somebody edits it." in text_of(
        browser.get("/teams/demo/files/CONTEXT/")
    )


def test_viewers_see_and_cannot_decide(signed_in: SignedIn, teammate: User, conflict: Conflict) -> None:
    reader = signed_in(teammate)
    page = text_of(reader.get(page_of(conflict)))
    assert "you need to be able to change both texts" in page
    assert "This one holds" not in page
    assert "/edit/" not in page
    listed = text_of(reader.get(f"{LIST}?status=open"))
    assert page_of(conflict) in listed
    assert 'name="pick"' not in listed
    assert "1 more is open that you may only read." in text_of(reader.get(LIST))
    for action in ("resolve", "undo"):
        assert reader.post(f"{page_of(conflict)}{action}/", {"choice": "both"}).status_code == 403
    reader.post(f"{LIST}selected/", {"action": "both", "pick": str(conflict.id)})
    assert "Your role does not allow this for 1" in text_of(reader.get(LIST))
    assert Conflict.objects.get().is_open


def test_outsiders_find_nothing(signed_in: SignedIn, outsider: User, conflict: Conflict, client: Client) -> None:
    stranger = signed_in(outsider)
    assert page_of(conflict) not in text_of(stranger.get(f"{LIST}?status=all"))
    assert stranger.get(page_of(conflict)).status_code == 404
    assert {stranger.post(f"{page_of(conflict)}{done}/").status_code for done in ("resolve", "undo")} == {404}
    assert {stranger.get(f"{page_of(conflict)}{done}/").status_code for done in ("resolve", "undo")} == {405}
    stranger.post(f"{LIST}selected/", {"action": "both", "pick": str(conflict.id)})
    assert client.get(page_of(conflict)).status_code == 302
    assert Conflict.objects.get().is_open


def test_an_admin_of_one_team_and_viewer_of_another(signed_in: SignedIn, teammate: User, conflict: Conflict) -> None:
    """Tim reads Demo and administers Other: the role in one of them is not the role in both."""
    other = team_create(slug="other", name="Other")
    membership_set(team=other, user=teammate, role=Role.ADMIN)
    second = agent_create(slug="sol", name="Sol", teams=[other], instructions="")
    own = conflict_between(remember(second, EIGHTY), remember(other, NINETY))
    tim = signed_in(teammate)
    page = text_of(tim.get(LIST))
    assert page_of(own) in page
    assert page_of(conflict) not in page
    assert "1 conflict is for you to decide." in page
    assert '<span class="count">1</span>' in page
    both = {"action": "both", "pick": [str(own.id), str(conflict.id)]}
    tim.post(f"{LIST}selected/", both)
    assert Conflict.objects.get(id=own.id).resolution == "both"
    assert Conflict.objects.get(id=conflict.id).is_open
    assert tim.post(f"{page_of(conflict)}resolve/", {"choice": "left"}).status_code == 403
    assert '<span class="count">' not in text_of(tim.get("/"))


def test_filters(browser: Client, conflict: Conflict, agent: Agent, team: Team) -> None:
    date = conflict_between(remember(team, "It opens in May."), remember(team, "It opens in June."), kind="date")
    same = conflict_between(remember(team, "Tea is hot."), remember(team, "Tea is hot!"), kind="duplicate")
    for query, found in (
        ("", {conflict, date}),
        ("?kind=date", {date}),
        ("?kind=duplicate", {same}),
        ("?agent=luna", {conflict}),
        ("?team=demo", {date}),
        ("?status=resolved", set()),
        ("?status=odd", set()),
        ("?team=nobody", set()),
    ):
        answer = browser.get(f"{LIST}{query}")
        assert {one for one in (conflict, date, same) if page_of(one) in text_of(answer)} == found, query
    assert "Difference: Date" in text_of(browser.get(f"{LIST}?kind=date"))
    assert "No conflicts match" in text_of(browser.get(f"{LIST}?status=resolved"))
    assert browser.get(f"{LIST}?cursor=odd").status_code == 422
    paged = text_of(browser.get(f"{LIST}?limit=1"))
    assert "Show older" in paged


def test_the_list_of_decided_ones_says_who_when_and_why(browser: Client, conflict: Conflict, owner: User) -> None:
    conflict_resolve(conflict=conflict, choice="right", reason="Since May.", principal=owner.principal)
    page = text_of(browser.get(f"{LIST}?status=resolved"))
    for words in ("Decided by Olga Owner", "“Since May.”", "The second text holds", 'value="undo"'):
        assert words in page


def test_memories_files_alerts_and_the_start_page_lead_to_it(
    browser: Client, conflict: Conflict, agent: Agent, team: Team
) -> None:
    address = page_of(conflict)
    for page in (
        f"/memories/{conflict.left_item}/",
        f"/memories/{conflict.right_item}/edit/",
        "/agents/luna/memories/",
    ):
        assert address in text_of(browser.get(page)), page
    assert "1 conflict to decide" in text_of(browser.get("/"))
    detail = {"why": "x", "conflict": str(conflict.id)}
    alert_on(agent, team, kind=AlertKind.CONFLICT_OPEN, name="Conflict", detail=detail)
    assert f'<a href="{address}">' in text_of(browser.get("/alerts/"))


def test_the_menu_shows_what_a_job_found_without_counting(
    signed_in: SignedIn, editor: User, teammate: User, agent: Agent, django_assert_num_queries: Queries
) -> None:
    browser, reader = signed_in(editor), signed_in(teammate)
    with django_assert_num_queries(5):
        browser.get("/teams/")
    remember(agent, EIGHTY)
    remember(agent, NINETY)
    run_jobs()
    with django_assert_num_queries(5):
        page = text_of(browser.get("/teams/"))
    assert '<span class="count">1</span>' in page
    assert '<span class="count">' not in text_of(reader.get("/teams/"))


def test_notices_are_for_those_who_may_read_both_sides(
    signed_in: SignedIn, outsider: User, agent: Agent, team: Team
) -> None:
    """Otto is in a team of the agent, and may not read the team whose memory contradicts the agent's."""
    other = team_create(slug="other", name="Other")
    membership_set(team=other, user=outsider, role=Role.EDITOR)
    agent.teams.add(other)
    mine = remember(agent, EIGHTY)
    conflict = conflict_between(mine, remember(team, NINETY))
    otto = signed_in(outsider)
    assert page_of(conflict) not in text_of(otto.get(f"/memories/{mine.id}/"))
    assert otto.get(page_of(conflict)).status_code == 404


def test_pages_take_few_queries(
    signed_in: SignedIn, editor: User, agent: Agent, team: Team, django_assert_num_queries: Queries
) -> None:
    conflicts = [
        conflict_between(remember(agent, f"{number} opens at 8."), remember(agent, f"{number} opens at 9."))
        for number in range(8)
    ]
    browser = signed_in(editor)
    browser.get(LIST)
    with django_assert_num_queries(10):
        browser.get(LIST)
    with django_assert_num_queries(9):
        browser.get(page_of(conflicts[0]))
    browser.get("/agents/luna/memories/")
    with django_assert_num_queries(8):
        browser.get("/agents/luna/memories/")


def test_texts_are_escaped(browser: Client, agent: Agent) -> None:
    left, right = (remember(agent, f"<b>It</b> opens at {hour} <script>") for hour in (8, 9))
    page = text_of(browser.get(page_of(conflict_between(left, right))))
    assert "&lt;b&gt;It&lt;/b&gt; opens at <mark>8</mark> &lt;script&gt;" in page
