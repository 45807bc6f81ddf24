"""Actions on several rows of a list at once: memories, contexts, alerts."""

import csv
import io
from typing import Any

import pytest

from agents.models import Agent
from assembly.models import Alert, Assembly, AssemblyFlag
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from memories.models import Memory
from memories.services import MemoryFacts, memories_create
from teams.models import Team, User
from teams.principal import SYSTEM
from tests.assembly.monitoring.alerts.alert_factories import alert_on
from tests.pages.conftest import SignedIn, text_of

MEMORIES = "/agents/luna/memories/"


@pytest.fixture
def memories(agent: Agent) -> list[Memory]:
    facts = [MemoryFacts(kind="fact", text=text) for text in ("Tides are high.", "=Ink is red.", "Quills bend.")]
    return memories_create(owner=agent, facts=facts, principal=SYSTEM)


def picks(memories: list[Memory]) -> list[str]:
    return [f"{memory.id}:{memory.version}" for memory in memories]


def test_selected_memories_are_archived_and_the_list_offers_undo(
    signed_in: SignedIn, owner: User, memories: list[Memory]
) -> None:
    browser = signed_in(owner)
    body = {"action": "archive", "reason": "Outdated", "pick": picks(memories[:2])}
    answer = browser.post(f"{MEMORIES}selected/?kind=fact", body)
    assert answer["Location"] == f"{MEMORIES}?kind=fact"
    page = browser.get(answer["Location"])
    assert "Archived: 2." in text_of(page)
    assert [row.retired_because for row in Memory.objects.order_by("id")] == ["Outdated", "Outdated", ""]
    undo = page.context["undo"]
    browser.post(f"{MEMORIES}selected/", {"action": undo["action"], "pick": undo["picks"]})
    assert not Memory.objects.exclude(retired_because="").exists()
    assert [row.version for row in Memory.objects.order_by("id")] == [3, 3, 1]
    assert not browser.get(MEMORIES).context["undo"]  # restored: there is nothing to undo


@pytest.mark.parametrize(("action", "pinned", "undo"), [("pin", True, "unpin"), ("unpin", False, "pin")])
def test_selected_memories_are_pinned_and_unpinned(
    *, signed_in: SignedIn, owner: User, memories: list[Memory], action: str, pinned: bool, undo: str
) -> None:
    Memory.objects.update(pinned=not pinned)
    browser = signed_in(owner)
    browser.post(f"{MEMORIES}selected/", {"action": action, "pick": picks(memories)})
    assert set(Memory.objects.values_list("pinned", flat=True)) == {pinned}
    assert browser.get(MEMORIES).context["undo"]["action"] == undo


def test_a_memory_that_was_changed_meanwhile_is_left_as_it_is(
    signed_in: SignedIn, owner: User, memories: list[Memory]
) -> None:
    Memory.objects.filter(id=memories[0].id).update(version=7)
    browser = signed_in(owner)
    body = {"action": "archive", "reason": "Outdated", "pick": picks(memories[:2])}
    page = text_of(browser.post(f"{MEMORIES}selected/", body, follow=True))
    assert "1 memory was changed meanwhile" in page
    assert "Archived: 1." in page
    assert Memory.objects.get(id=memories[0].id).retired_because == ""


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"action": "archive", "reason": "x"}, "Select from 1 to 100 memories."),
        ({"action": "archive", "reason": " ", "pick": "all"}, "Reason: This field is required."),
        ({"action": "archive", "reason": "x" * 201, "pick": "all"}, "Reason: "),
        ({"action": "shred", "pick": "all"}, "Choose what to do"),
        ({"action": "pin", "pick": "not an id"}, "Nothing to change"),
        ({"action": "restore", "pick": "all"}, "Nothing to change"),
        ({"action": "pin", "pick": [f"{number}:1" for number in range(101)]}, "Select from 1 to 100"),
    ],
)
def test_what_cannot_be_done_is_said_and_changes_nothing(
    signed_in: SignedIn, owner: User, memories: list[Memory], body: dict[str, Any], said: str
) -> None:
    chosen = picks(memories) if body.get("pick") == "all" else body.get("pick", [])
    before = list(Memory.objects.values())
    page = text_of(signed_in(owner).post(f"{MEMORIES}selected/", {**body, "pick": chosen}, follow=True))
    assert said in page
    assert list(Memory.objects.values()) == before


def test_selected_memories_are_exported_without_formulas(
    signed_in: SignedIn, owner: User, memories: list[Memory]
) -> None:
    answer = signed_in(owner).post(f"{MEMORIES}selected/", {"action": "export", "pick": picks(memories[1:])})
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert [row["text"] for row in rows] == ["'=Ink is red.", "Quills bend."]
    assert {row["pinned"] for row in rows} == {"false"}


def test_memories_of_others_and_readers_are_refused(
    *, signed_in: SignedIn, teammate: User, outsider: User, memories: list[Memory], team: Team, owner: User
) -> None:
    body = {"action": "archive", "reason": "Outdated", "pick": picks(memories)}
    assert signed_in(teammate).post(f"{MEMORIES}selected/", body).status_code == 403
    assert signed_in(outsider).post(f"{MEMORIES}selected/", body).status_code == 404
    signed_in(owner).post(f"/teams/{team.slug}/memories/selected/", body)  # of the agent, not of the team
    assert not Memory.objects.exclude(retired_because="").exists()
    page = text_of(signed_in(teammate).get(MEMORIES))
    assert "Tides are high." in page
    assert 'name="pick"' not in page


def test_the_list_of_memories_is_sorted_by_its_heads(signed_in: SignedIn, owner: User, memories: list[Memory]) -> None:
    Memory.objects.filter(id=memories[1].id).update(credibility=0.9)
    page = signed_in(owner).get(f"{MEMORIES}?order=credibility")
    assert next(iter(page.context["found"])).id == memories[1].id
    assert 'aria-sort="descending"' in text_of(page)


# --- contexts ---------------------------------------------------------------------------------------------------


@pytest.fixture
def contexts(agent: Agent, team: Team) -> list[str]:
    asked = [AssemblyRequest(topic=topic) for topic in ("tides", "ink", "quills")]
    return [str(assemble(agent=agent, team=team, asked=one, principal=SYSTEM).assembly.id) for one in asked]


def test_selected_contexts_are_flagged_and_unflagged(signed_in: SignedIn, owner: User, contexts: list[str]) -> None:
    browser = signed_in(owner)
    for _ in range(2):  # a second time changes nothing
        answer = browser.post("/contexts/selected/?agent=luna", {"action": "flag", "pick": contexts[:2]})
        assert answer["Location"] == "/contexts/?agent=luna"
    assert "2 contexts are flagged." in text_of(browser.get("/contexts/"))
    assert {str(flag.pk) for flag in AssemblyFlag.objects.all()} == set(contexts[:2])
    assert text_of(browser.get("/contexts/")).count(">flagged<") == 2
    browser.post("/contexts/selected/", {"action": "unflag", "pick": contexts})
    assert not AssemblyFlag.objects.exists()


def test_contexts_are_flagged_by_those_who_may_and_seen_by_those_who_see_them(
    signed_in: SignedIn, teammate: User, outsider: User, contexts: list[str]
) -> None:
    body = {"action": "flag", "pick": contexts}
    page = text_of(signed_in(teammate).post("/contexts/selected/", body, follow=True))
    assert "Your role does not allow this for 3 of the selected contexts." in page
    browser = signed_in(outsider)
    browser.post("/contexts/selected/", body)
    assert not AssemblyFlag.objects.exists()
    exported = browser.post("/contexts/selected/", {**body, "action": "export"}).content
    assert exported.count(b"\n") == 1


def test_selected_contexts_are_exported_and_two_are_compared(
    signed_in: SignedIn, owner: User, contexts: list[str]
) -> None:
    browser = signed_in(owner)
    exported = browser.post("/contexts/selected/", {"action": "export", "pick": contexts[:2]}).content.decode()
    assert {row["id"] for row in csv.DictReader(io.StringIO(exported))} == set(contexts[:2])
    answer = browser.post("/contexts/selected/", {"action": "compare", "pick": contexts[:2]}, follow=True)
    older, newer = sorted(contexts[:2])
    assert answer.redirect_chain[-1][0] == f"/contexts/compare/?before={older}&after={newer}"
    page = text_of(browser.post("/contexts/selected/", {"action": "compare", "pick": contexts}, follow=True))
    assert "Select two contexts to compare them." in page


@pytest.mark.parametrize("body", [{"action": "flag"}, {"action": "flag", "pick": "x"}, {"action": "burn"}])
def test_a_selection_of_nothing_changes_nothing(signed_in: SignedIn, owner: User, body: dict[str, str]) -> None:
    browser = signed_in(owner)
    page = text_of(browser.post("/contexts/selected/", body, follow=True))
    assert "Select at least one row." in page or "Choose what to do" in page


def test_flagging_many_takes_few_queries(
    signed_in: SignedIn, owner: User, contexts: list[str], django_assert_max_num_queries: Any
) -> None:
    browser = signed_in(owner)
    with django_assert_max_num_queries(12):
        browser.post("/contexts/selected/", {"action": "flag", "pick": contexts})
    assert Assembly.objects.filter(flag__isnull=False).count() == 3


def test_chips_remove_one_filter_each(signed_in: SignedIn, owner: User, contexts: list[str]) -> None:
    page = signed_in(owner).get("/contexts/?agent=luna&q=tides&when=week")
    chips = {chip.words: chip.address for chip in page.context["chips"]}
    assert chips["agent: Luna"] == "/contexts/?q=tides&when=week"
    assert chips["words: “tides”"] == "/contexts/?agent=luna&when=week"
    assert len(chips) == 3
    assert contexts


@pytest.fixture
def alerts(agent: Agent, team: Team) -> list[Alert]:
    return [alert_on(agent, team, cause=str(number)) for number in range(3)]


def test_selected_alerts_are_acknowledged_resolved_and_reopened(
    signed_in: SignedIn, owner: User, alerts: list[Alert]
) -> None:
    browser, picked = signed_in(owner), [str(alert.id) for alert in alerts[:2]]
    for action, message, facts in (
        ("acknowledge", "Acknowledged: 2.", {"seen_by": owner.name}),
        ("resolve", "Resolved: 2.", {"settled_by": owner.name}),
        ("reopen", "Reopened: 2.", {"seen_by": "", "settled_by": ""}),
    ):
        answer = browser.post("/alerts/selected/?state=all", {"action": action, "pick": picked})
        assert answer["Location"] == "/alerts/?state=all"
        assert message in text_of(browser.get(answer["Location"]))
        assert Alert.objects.filter(id__in=picked, **facts).count() == 2
    assert Alert.objects.filter(id=alerts[2].id, seen=None, settled=None).exists()


def test_who_may_not_resolve_an_alert_changes_none_of_a_selection(
    signed_in: SignedIn, teammate: User, outsider: User, alerts: list[Alert]
) -> None:
    body = {"action": "resolve", "pick": [str(alert.id) for alert in alerts]}
    browser = signed_in(teammate)
    browser.post("/alerts/selected/", body)
    assert "Your role does not allow this for 3 of the selected alerts." in text_of(browser.get("/alerts/"))
    signed_in(outsider).post("/alerts/selected/", body)
    assert Alert.objects.filter(settled=None).count() == 3


@pytest.mark.parametrize("body", [{"action": "delete", "pick": ["x"]}, {"action": "resolve"}, {"pick": ["x"]}])
def test_what_is_no_action_on_alerts_is_refused_with_a_sentence(
    body: dict[str, Any], signed_in: SignedIn, owner: User, alerts: list[Alert]
) -> None:
    browser = signed_in(owner)
    assert browser.post("/alerts/selected/", body).status_code == 302
    assert 'class="message error"' in text_of(browser.get("/alerts/"))
    assert Alert.objects.filter(settled=None).count() == 3
