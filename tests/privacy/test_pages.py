"""Pages of subjects: review with the sentences that name the person, and nobody but admins of the organisation."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agents.models import Agent
from memories.models import Memory
from memories.services import MemoryFacts, memories_create, memory_create, memory_update
from privacy.models import MentionStatus, Subject, SubjectMention
from privacy.subjects.presentation import sentences_with
from teams.models import Team, User
from teams.principal import SYSTEM
from tests.pages.conftest import _uncollected_static_files  # noqa: F401 - a fixture
from tests.privacy.subject_factories import NAME, link_all, run_scans, scanned_subject, tell_everything

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff(admin: User) -> Client:
    client = Client()
    client.force_login(admin)
    return client


def text_of(staff: Client, address: str) -> str:
    answer = staff.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_subject_is_created_and_what_names_it_is_reviewed(staff: Client, agent: Agent) -> None:
    memory = memory_create(
        owner=agent,
        facts=MemoryFacts(kind="fact", text=f"It rained. Then {NAME} <came>. It stopped."),
        principal=SYSTEM,
    )
    form = {"version": 0, "name": NAME, "kind": "visitor", "email": "zora@example.org\n", "names": "Zora Q."}
    answer = staff.post("/subjects/new/", form)
    subject = Subject.objects.get()
    assert answer.url == f"/subjects/{subject.id}/"  # type: ignore[attr-defined]
    assert "The search is running" in text_of(staff, answer.url)  # type: ignore[attr-defined]
    run_scans()
    page = text_of(staff, f"/subjects/{subject.id}/")
    assert f"Then <mark>{NAME}</mark> &lt;came&gt;." in page
    assert "It rained. Then <mark>" not in page
    assert f"/memories/{memory.id}/" in page
    mention = subject.mentions.get()
    staff.post(f"/subjects/{subject.id}/mentions/?status=found", {"action": "link", "pick": str(mention.id)})
    mention.refresh_from_db()
    assert (mention.status, mention.decider_name) == (MentionStatus.LINKED, "Grace Admin")
    staff.post(f"/subjects/{subject.id}/mentions/", {"action": "dismiss", "pick": str(mention.id)})
    assert "Not about them" in text_of(staff, f"/subjects/{subject.id}/?status=dismissed")
    mention.refresh_from_db()
    assert mention.status == MentionStatus.DISMISSED


def test_an_earlier_text_shows_its_spelling(staff: Client, agent: Agent) -> None:
    memory = memory_create(owner=agent, facts=MemoryFacts(kind="fact", text=f"{NAME} came"), principal=SYSTEM)
    facts = MemoryFacts(kind="fact", text="Somebody came")
    memory_update(memory=memory, expected_version=1, facts=facts, superseded_by=None, principal=SYSTEM)
    page = text_of(staff, f"/subjects/{scanned_subject().id}/")
    assert re.search(rf"In an earlier or recorded text: <mark>{NAME}</mark>", page)


def test_every_kind_of_thing_is_shown(staff: Client, agent: Agent, team: Team) -> None:
    tell_everything(agent, team)
    subject = scanned_subject()
    page = text_of(staff, f"/subjects/{subject.id}/")
    for label in ("Agent files", "Team files", "Daily logs", "Memories", "Events", "Relations", "Tasks", "Tools"):
        assert f'<h3 class="mention-kind">{label}</h3>' in page
    assert page.count('class="mention"') == subject.mentions.count()


def test_bad_input_is_named_and_nothing_is_lost(staff: Client) -> None:
    form = {"version": 0, "name": "Z", "kind": "visitor", "email": "not an address\nok@example.org", "phone": "1"}
    answer = staff.post("/subjects/new/", form)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "This is no e-mail address" in page
    assert "A phone number has at least" in page
    assert "ok@example.org" in page
    assert not Subject.objects.exists()


def test_an_edit_of_an_older_version_is_refused_once(staff: Client) -> None:
    subject = scanned_subject()
    address = f"/subjects/{subject.id}/edit/"
    form = {"version": 1, "name": NAME, "kind": "visitor", "note": "One"}
    assert staff.post(address, form).status_code == 302
    stale = staff.post(address, {**form, "note": "Two"})
    assert stale.status_code == 422
    assert "meanwhile" in stale.content.decode()
    assert 'name="version" value="2"' in stale.content.decode()


def test_a_name_is_searched_without_being_in_an_address(staff: Client) -> None:
    subject = scanned_subject()
    for asked in ("quell", "ZORA.QUELL@example.org", "0049 171 123 4567", "Quell, Zora"):
        answer = staff.post("/subjects/", {"q": asked})
        assert f"/subjects/{subject.id}/" in answer.content.decode()
    assert "No matches" in staff.post("/subjects/", {"q": "Okaforian"}).content.decode()


def test_restricting_and_deleting_ask_first(staff: Client) -> None:
    subject = scanned_subject()
    assert "Restrict Zora Quell?" in text_of(staff, f"/subjects/{subject.id}/restriction/")
    staff.post(f"/subjects/{subject.id}/restriction/", {"restricted": "yes"})
    assert "Lift the restriction of Zora Quell?" in text_of(staff, f"/subjects/{subject.id}/restriction/")
    assert "Lift the restriction first" in text_of(staff, f"/subjects/{subject.id}/delete/")
    staff.post(f"/subjects/{subject.id}/delete/")
    assert Subject.objects.filter(restricted_at__isnull=False).exists()
    staff.post(f"/subjects/{subject.id}/restriction/", {"restricted": "no"})
    staff.post(f"/subjects/{subject.id}/delete/")
    assert not Subject.objects.exists()


def test_the_number_of_queries_does_not_grow(staff: Client, agent: Agent) -> None:
    def remember(start: int, count: int) -> None:
        facts = [MemoryFacts(kind="fact", text=f"{NAME} {number}") for number in range(start, start + count)]
        memories_create(owner=agent, facts=facts, principal=SYSTEM)

    remember(0, 2)
    subject = scanned_subject()
    few = _queries(staff, f"/subjects/{subject.id}/"), _queries(staff, "/subjects/")
    remember(2, 20)
    SubjectMention.objects.bulk_create(
        SubjectMention(subject=subject, ref_kind="memory", thing=memory.id, agent_id=agent.id, spellings=[NAME])
        for memory in Memory.objects.exclude(id__in=subject.mentions.values("thing"))
    )
    for number in range(5):
        Subject.objects.create(name=f"Somebody {number}", created_by="system", updated_by="system")
    assert (_queries(staff, f"/subjects/{subject.id}/"), _queries(staff, "/subjects/")) == few
    assert few[0] <= 14


def _queries(staff: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert staff.get(address).status_code == 200
    return len(queries)


@pytest.mark.parametrize("who", ["owner", "editor", "teammate", "outsider"])
def test_nobody_else_sees_anything_of_subjects(who: str, request: Any, team: Team) -> None:
    subject = scanned_subject()
    client = Client()
    client.force_login(request.getfixturevalue(who))
    for path in ("", "new/", f"{subject.id}/", f"{subject.id}/edit/", f"{subject.id}/files/", f"{subject.id}/delete/"):
        answer = client.get(f"/subjects/{path}")
        assert answer.status_code == 403
        assert "Quell" not in answer.content.decode()
    assert "/subjects/" not in client.get("/").content.decode()


def test_the_page_of_a_thing_names_its_subjects_to_admins_alone(
    staff: Client, agent: Agent, team: Team, owner: User
) -> None:
    memory = memory_create(owner=agent, facts=MemoryFacts(kind="fact", text=f"{NAME} came"), principal=SYSTEM)
    subject = scanned_subject()
    assert "mentions a subject" not in text_of(staff, f"/memories/{memory.id}/").lower()
    link_all(subject)
    assert f'href="/subjects/{subject.id}/"' in text_of(staff, f"/memories/{memory.id}/")
    client = Client()
    client.force_login(owner)
    assert "/subjects/" not in text_of(client, f"/memories/{memory.id}/")


def test_sentences_are_cut_at_their_ends() -> None:
    [one] = sentences_with(["Ada"], ["First. " + "x" * 300 + " Ada " + "y" * 300])
    assert (one.before[0], one.after[-1]) == ("…", "…")
    [short, other] = sentences_with(["Ada", "Ada Okafor"], ["Hi! Ada Okafor came.\nThen Ada left. Bye."])
    assert (short.before, short.spelling, short.after) == ("", "Ada Okafor", " came.")
    assert (other.before, other.spelling, other.after) == ("Then ", "Ada", " left.")


def test_the_page_of_an_erased_subject_says_so_and_offers_nothing_that_is_refused(staff: Client, agent: Agent) -> None:
    subject = scanned_subject()
    Subject.objects.filter(id=subject.id).update(name="[erased]", note="", erased_at=timezone.now())
    subject.identifiers.all().delete()
    page = text_of(staff, f"/subjects/{subject.id}/")
    assert "was erased" in page
    assert 'href="/erasures/"' in page
    for refused in ("Search again", "Show everything", "Searched for", "/edit/", "/restriction/", "/erase/"):
        assert refused not in page
    assert f"/subjects/{subject.id}/delete/" in page
    nav = text_of(staff, "/erasures/")
    assert re.search(r'<a href="/subjects/" aria-current="page">', nav)


def test_the_restriction_of_an_erased_subject_is_lifted_and_it_is_deleted(staff: Client, agent: Agent) -> None:
    subject = scanned_subject()
    page = f"/subjects/{subject.id}/"
    staff.post(f"{page}restriction/", {"restricted": "yes"})
    Subject.objects.filter(id=subject.id).update(erased_at=timezone.now())
    assert f'href="{page}restriction/"' in text_of(staff, page)
    staff.post(f"{page}delete/")
    assert Subject.objects.filter(id=subject.id).exists(), "it is restricted"
    staff.post(f"{page}restriction/", {"restricted": ""})
    assert f'href="{page}restriction/"' not in text_of(staff, page)
    staff.post(f"{page}delete/")
    assert not Subject.objects.filter(id=subject.id).exists()
