"""Feedback on the page of a context: who may give it, what is refused, and what the page then says."""

import pytest
from django.test import Client

from agents.models import Agent
from assembly.models import Assembly, AssemblyFeedback, RecallTest
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.feedback import MAX_FEEDBACK, FeedbackFacts, feedback_create
from memories.models import Memory
from memories.services import MemoryFacts, memory_create
from teams.models import Team, User
from teams.principal import SYSTEM
from tests.pages.conftest import SignedIn, text_of


@pytest.fixture
def memory(agent: Agent) -> Memory:
    facts = MemoryFacts(kind="fact", text="The ferry leaves at eight.")
    return memory_create(owner=agent, facts=facts, principal=SYSTEM)


@pytest.fixture
def record(agent: Agent, team: Team, memory: Memory) -> Assembly:
    asked = AssemblyRequest(topic="When does the ferry leave?")
    return assemble(agent=agent, team=team, asked=asked, principal=SYSTEM).assembly


@pytest.fixture
def editors_browser(editor: User, signed_in: SignedIn) -> Client:
    return signed_in(editor)


def test_an_editor_says_what_a_context_was_worth(editors_browser: Client, editor: User, record: Assembly) -> None:
    address = f"/contexts/{record.id}/"
    assert "Nobody has given feedback on this context yet." in text_of(editors_browser.get(address))
    answer = editors_browser.post(f"{address}feedback/", {"satisfaction": "0.75", "note": "The right pier."})
    assert answer["Location"] == address
    page = text_of(editors_browser.get(address))
    assert "Your feedback is stored with the context." in page
    section = page.split('id="feedback"')[1].split("</section>")[0]
    assert editor.name in section
    assert "Satisfaction <b>0.75</b>" in section
    assert "“The right pier.”" in section


@pytest.mark.parametrize(("verdict", "label"), [("used", "Used:"), ("useless", "Of no use:")])
def test_items_are_marked_in_their_list(
    editors_browser: Client, record: Assembly, memory: Memory, verdict: str, label: str
) -> None:
    address = f"/contexts/{record.id}/"
    assert f'value="{memory.ref}"' in text_of(editors_browser.get(f"{address}items/?which=in"))
    sent = {"pick": memory.ref, "verdict": verdict, "satisfaction": "0.25"}
    answer = editors_browser.post(f"{address}feedback/?which=in", sent)
    assert answer["Location"] == f"{address}items/?which=in"
    given = AssemblyFeedback.objects.get()
    assert (getattr(given, verdict), given.satisfaction) == ([memory.ref], 0.25)
    memory.refresh_from_db()
    assert memory.credibility == (0.52 if verdict == "used" else 0.48)
    section = text_of(editors_browser.get(address)).split('id="feedback"')[1].split("</section>")[0]
    assert label in section
    assert "The ferry leaves at eight." in section


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({}, "Say something"),
        ({"satisfaction": "2"}, "Select a valid choice"),
        ({"note": "x" * 1_001}, "at most 1000 characters"),
        ({"note": "\0"}, "Null characters"),
    ],
)
def test_bad_values_are_named_and_nothing_is_lost(
    editors_browser: Client, record: Assembly, sent: dict[str, str], message: str
) -> None:
    answer = editors_browser.post(f"/contexts/{record.id}/feedback/", sent)
    assert answer.status_code == 422
    assert message in text_of(answer)
    assert not AssemblyFeedback.objects.exists()


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"verdict": "used"}, "Say something"),
        ({"verdict": "good", "pick": "memory:1"}, "Select a valid choice"),
        ({"verdict": "used", "pick": ["memory:1", "\0", "x" * 500]}, "does not include these items: memory:1."),
    ],
)
def test_bad_items_are_refused_in_their_list(
    editors_browser: Client, record: Assembly, sent: dict[str, str], message: str
) -> None:
    answer = editors_browser.post(f"/contexts/{record.id}/feedback/", sent, follow=True)
    assert answer.redirect_chain == [(f"/contexts/{record.id}/items/", 302)]
    assert message in text_of(answer)
    assert not AssemblyFeedback.objects.exists()


def test_a_context_takes_so_much(editors_browser: Client, record: Assembly) -> None:
    for _ in range(MAX_FEEDBACK):
        feedback_create(assembly=record, facts=FeedbackFacts(satisfaction=1), principal=SYSTEM)
    answer = editors_browser.post(f"/contexts/{record.id}/feedback/", {"satisfaction": "1"})
    assert answer.status_code == 422
    assert "which is the maximum" in text_of(answer)


def test_viewers_read_and_do_not_give_it(
    record: Assembly, memory: Memory, teammate: User, outsider: User, signed_in: SignedIn
) -> None:
    feedback_create(assembly=record, facts=FeedbackFacts(note="The right pier."), principal=SYSTEM)
    address = f"/contexts/{record.id}/"
    viewer = signed_in(teammate)
    page = text_of(viewer.get(address))
    assert "The right pier." in page
    assert "Give feedback" not in page
    assert 'name="pick"' not in text_of(viewer.get(f"{address}items/"))
    assert viewer.post(f"{address}feedback/", {"satisfaction": "1"}).status_code == 403
    assert signed_in(outsider).post(f"{address}feedback/", {"satisfaction": "1"}).status_code == 404
    assert AssemblyFeedback.objects.count() == 1


def test_nobody_gives_feedback_for_a_deleted_team(editors_browser: Client, record: Assembly, team: Team) -> None:
    from teams.services import erase

    erase("teams", team.id, SYSTEM)
    assert editors_browser.post(f"/contexts/{record.id}/feedback/", {"satisfaction": "1"}).status_code == 404


def test_the_selected_items_are_kept_as_a_test(editors_browser: Client, record: Assembly, memory: Memory) -> None:
    address = f"/contexts/{record.id}/recall-test/"
    answer = editors_browser.post(address, {"pick": [memory.ref]})
    test = RecallTest.objects.get()
    assert answer["Location"] == f"/recall-tests/{test.id}/edit/"
    assert [one["ref"] for one in test.expectations] == [f"memory:{memory.id}"]
    refused = editors_browser.post(address, {"pick": ["turn:1"]}, follow=True)
    assert "Choose 1 to 20 included items" in text_of(refused)
    assert RecallTest.objects.count() == 1
