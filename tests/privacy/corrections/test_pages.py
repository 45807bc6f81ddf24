"""The pages of corrections: a preview changes nothing, and a correction says what became of each text."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agents.models import Agent
from memories.models import Memory
from memories.services import MemoryFacts, memories_create, memory_update
from privacy.models import Subject, SubjectCorrection
from privacy.subjects.scan import subject_scan_create
from teams.models import User
from teams.principal import SYSTEM
from tests.pages.conftest import _uncollected_static_files  # noqa: F401 - a fixture
from tests.privacy.subject_factories import NAME, link_all, run_scans, scanned_subject

pytestmark = pytest.mark.django_db

FORM = {"kind": "name", "wrong": NAME, "right": "Zora <Quill>", "reason": "She wrote."}


@pytest.fixture
def staff(admin: User) -> Client:
    client = Client()
    client.force_login(admin)
    return client


def remember(agent: Agent, *texts: str) -> list[Memory]:
    facts = [MemoryFacts(kind="fact", text=text) for text in texts]
    return memories_create(owner=agent, facts=facts, principal=SYSTEM)


def linked_subject() -> Subject:
    subject = scanned_subject()
    link_all(subject)
    return subject


def test_a_preview_shows_old_and_new_and_changes_nothing(staff: Client, agent: Agent) -> None:
    [memory] = remember(agent, f"It rained. Then {NAME} came & went.")
    subject = linked_subject()
    answer = staff.post(f"/subjects/{subject.id}/correct/", {**FORM, "action": "preview"})
    page = answer.content.decode()
    assert f"Then <del>{NAME}</del> came &amp; went." in page
    assert "Then <ins>Zora &lt;Quill&gt;</ins> came &amp; went." in page
    assert f'value="memory:{memory.id}@1"' in page
    assert not SubjectCorrection.objects.exists()
    memory.refresh_from_db()
    assert memory.version == 1


def test_chosen_texts_are_corrected_and_the_page_says_what_became_of_them(staff: Client, agent: Agent) -> None:
    chosen, changed, left = remember(agent, f"{NAME} 1", f"{NAME} 2", f"{NAME} 3")
    subject = linked_subject()
    newer = MemoryFacts(kind="fact", text=f"{NAME} 2, newer")
    memory_update(memory=changed, expected_version=1, facts=newer, superseded_by=None, principal=SYSTEM)
    picks = [f"memory:{chosen.id}@1", f"memory:{changed.id}@1"]
    answer = staff.post(f"/subjects/{subject.id}/correct/", {**FORM, "action": "apply", "pick": picks})
    correction = SubjectCorrection.objects.get()
    address = f"/subjects/{subject.id}/corrections/{correction.id}/"
    assert answer.url == address  # type: ignore[attr-defined]
    page = staff.get(address).content.decode()
    assert "Corrected" in page
    assert "You saw version 1; version 2 is the newest." in page
    assert "Recorded contexts are being searched" in page
    left.refresh_from_db()
    assert left.version == 1
    told = {"contexts": 3, "recipients": [{"agent": str(agent.id), "name": "<Luna>", "contexts": 3, "last_at": "2026"}]}
    SubjectCorrection.objects.update(told=told)
    assert "&lt;Luna&gt;" in staff.get(address).content.decode()
    overview = staff.get(f"/subjects/{subject.id}/").content.decode()
    assert address in overview
    assert "before its correction" in overview
    staff.post(f"{address}undo/", {"pick": str(chosen.id)})
    chosen.refresh_from_db()
    assert (chosen.version, chosen.text) == (3, f"{NAME} 1")
    staff.post(f"{address}undo/", {"pick": "nonsense"})
    assert "Select at least one text" in staff.get(address).content.decode()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"right": NAME}, "is the same as the wrong one"),
        ({"kind": "email"}, "This is no e-mail address"),
        ({"wrong": ""}, "This field is required"),
        ({"reason": "x" * 501}, "at most 500 characters"),
        ({"action": "apply", "pick": "memory:nothing"}, "is no ref with a version"),
        ({"wrong": "Somebody Else", "action": "apply"}, "Select at least one text"),
    ],
)
def test_bad_input_is_named_and_nothing_is_lost(
    change: dict[str, str], message: str, staff: Client, agent: Agent
) -> None:
    subject = linked_subject()
    answer = staff.post(f"/subjects/{subject.id}/correct/", {**FORM, **change})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert message in page
    assert "She wrote." in page or "reason" in change
    assert not SubjectCorrection.objects.exists()


def test_an_identifier_is_named_by_its_id_and_nothing_found_is_said(staff: Client) -> None:
    subject = linked_subject()
    identifier = subject.identifiers.get(kind="phone")
    page = staff.get(f"/subjects/{subject.id}/correct/?identifier={identifier.id}").content.decode()
    assert 'value="+49 171 1234567"' in page
    assert staff.get(f"/subjects/{subject.id}/correct/?identifier=nonsense").status_code == 200
    empty = staff.post(f"/subjects/{subject.id}/correct/", {**FORM, "wrong": "Somebody Else"})
    assert "Nothing to correct" in empty.content.decode()


def test_others_are_refused(staff: Client, owner: User, outsider: User) -> None:
    subject = linked_subject()
    staff.post(f"/subjects/{subject.id}/correct/", {**FORM, "action": "apply"})
    address = f"/subjects/{subject.id}/corrections/{SubjectCorrection.objects.get().id}/"
    for person in (owner, outsider):
        client = Client()
        client.force_login(person)
        for page in (f"/subjects/{subject.id}/correct/", address):
            answer = client.get(page)
            assert answer.status_code == 403
            assert b"Quell" not in answer.content
        assert client.post(f"{address}undo/").status_code == 403
        assert client.post(f"/subjects/{subject.id}/correct/", {**FORM, "action": "apply"}).status_code == 403


def test_the_number_of_queries_does_not_grow(staff: Client, agent: Agent) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            staff.post(f"/subjects/{subject.id}/correct/", {**FORM, "action": "preview"})
        return len(captured)

    remember(agent, f"{NAME} 1")
    subject = linked_subject()
    queries()
    few = queries()
    remember(agent, *(f"{NAME} {number}" for number in range(2, 12)))
    subject_scan_create(subject=subject, principal=SYSTEM)
    run_scans()
    link_all(subject)
    assert queries() == few
