"""The pages of storage: what they say to whom, the preview, and saving."""

import datetime

import pytest
from django.test import Client
from django.utils import timezone

from agents.models import Agent
from memories.lifecycle import frozen_texts, policy_preview
from memories.lifecycle.hourly_run import StepsFailed, lifecycle_run, memory_pressure_changed
from memories.lifecycle.kv_policies import PolicyBook
from memories.lifecycle.kv_policy import DEFAULT_POLICIES
from memories.lifecycle.thing_tables import MEMORIES
from memories.lifecycle.tiers import Tier
from memories.lifecycle.transitions import things_move
from memories.lifecycle.undoing import undo_lifecycle
from memories.models import Job, KVPolicyVersion, LifecycleReport, Memory
from memories.services import MemoryFacts, memories_create
from teams.models import Team, User
from teams.principal import SYSTEM

pytestmark = pytest.mark.django_db

FORM = {
    "version": 0,
    "patterns": "",
    "ttl_hours": 12,
    "max_size_mb": 50,
    "age_threshold_hours": 0,
    "access_threshold": 2,
    "compression_ratio": 0.8,
    "max_total_size_gb": 1,
    "lru_weight": 0.4,
    "quality_weight": 0.6,
}
ADDRESS = "/storage/general/"


def browser(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def remember(agent: Agent) -> Memory:
    [memory] = memories_create(owner=agent, facts=[MemoryFacts(kind="fact", text="Tea")], principal=SYSTEM)
    return memory


def test_everybody_reads_the_policies_and_admins_the_reports(admin: User, teammate: User, agent: Agent) -> None:
    remember(agent)
    browser(admin).post(ADDRESS, {**FORM, "action": "save"})
    lifecycle_run()
    page = browser(admin).get("/storage/").content.decode()
    assert "README*, *.md stay as they are for 12 h, up to 50 MB." in " ".join(page.split())
    assert "Compressed" in page
    assert 'id="reports"' in page
    assert 'id="reports"' not in browser(teammate).get("/storage/").content.decode()


def test_admins_are_told_what_failed_and_what_to_do(
    admin: User, teammate: User, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    def freeze(*_: object) -> None:
        raise OSError("No space left on device: /data/frozen")

    monkeypatch.setattr(frozen_texts, "freeze", freeze)
    things_move(MEMORIES, [remember(agent).id], Tier.COLD)
    later = timezone.now() + datetime.timedelta(days=91)
    for _ in range(2):
        with pytest.raises(StepsFailed):
            lifecycle_run(now=later)
    page = " ".join(browser(admin).get("/storage/").content.decode().split())
    assert "Unused items could not be archived in files." in page
    assert "not done yet" in page
    assert "Check that it can be reached and that files can be written there." in page
    assert "It failed 2 times in the last 30 days, last with OSError." in page
    assert "/data/frozen" not in page
    assert 'id="failed"' not in browser(teammate).get("/storage/").content.decode()
    monkeypatch.undo()
    lifecycle_run(now=later)
    page = " ".join(browser(admin).get("/storage/").content.decode().split())
    assert "A later run did it." in page
    assert "not done yet" not in page


def test_an_estimate_says_that_it_is_one(admin: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy_preview, "_share", lambda: 0.01)
    page = " ".join(browser(admin).post(ADDRESS, {**FORM, "action": "preview"}).content.decode().split())
    assert "These numbers are estimates: there are more than 10,000 items" in page


def test_a_preview_says_what_would_happen_and_saves_nothing(admin: User, agent: Agent) -> None:
    remember(agent)
    page = " ".join(browser(admin).post(ADDRESS, {**FORM, "action": "preview"}).content.decode().split())
    assert "With these values, the next run would compress 1 item. It would leave 0 items out of search." in page
    assert "Without the change: 0 compressed, 0 left out of search. Nothing is saved yet." in page
    assert not KVPolicyVersion.objects.exists()


def test_a_policy_is_saved_once(admin: User) -> None:
    assert browser(admin).post(ADDRESS, {**FORM, "patterns": "a*\n\n b* ", "action": "save"}).status_code == 302
    assert PolicyBook().policy("general").pin.patterns == ("a*", "b*")
    stale = browser(admin).post(ADDRESS, {**FORM, "action": "save"})
    assert (stale.status_code, KVPolicyVersion.objects.count()) == (422, 1)


def test_what_is_impossible_is_refused(admin: User) -> None:
    for wrong in ({"ttl_hours": -1}, {"lru_weight": 2}, {"patterns": "x" * 300}, {"access_threshold": "many"}):
        assert browser(admin).post(ADDRESS, {**FORM, **wrong, "action": "save"}).status_code == 422
    assert browser(admin).get("/storage/films/").status_code == 404


def test_others_may_not_change_it(owner: User, outsider: User) -> None:
    for person in (owner, outsider):
        assert browser(person).post(ADDRESS, {**FORM, "action": "save"}).status_code == 403


def test_versions_are_shown_and_brought_back(admin: User) -> None:
    person = browser(admin)
    person.post(ADDRESS, {**FORM, "age_threshold_hours": 7, "note": "Sooner", "action": "save"})
    person.post(ADDRESS, {**FORM, "version": 1, "age_threshold_hours": 9, "action": "save"})
    page = person.get(ADDRESS).content.decode()
    assert "Sooner" in page
    assert 'name="age_threshold_hours" value="9.0"' in page
    old = person.get(f"{ADDRESS}?version=1").content.decode()
    assert 'name="age_threshold_hours" value="7' in old
    assert "These are the values of version 1." in old
    assert 'name="version" value="2"' in old
    for wrong in ("0", "x", "9" * 30, "²"):
        assert "These are the values" not in person.get(ADDRESS, {"version": wrong}).content.decode()
    assert person.post(ADDRESS, {**FORM, "version": 2, "action": "reset"}).status_code == 302
    assert PolicyBook().policy("general") == DEFAULT_POLICIES["general"]
    assert "Version 2" not in person.get("/storage/").content.decode()


def test_a_team_has_policies_of_its_own(owner: User, teammate: User, outsider: User, team: Team) -> None:
    address = f"/teams/{team.slug}/storage/"
    assert "As for the whole organisation." in browser(owner).get(address).content.decode()
    assert browser(owner).post(f"{address}general/", {**FORM, "action": "save"}).status_code == 302
    assert PolicyBook().policy("general", team.id).compress.age_threshold_hours == 0
    assert PolicyBook().policy("general") == DEFAULT_POLICIES["general"]
    page = browser(teammate).get(address).content.decode()
    assert "Version 1" in page
    assert "Change" not in page
    assert browser(teammate).post(f"{address}general/", {**FORM, "action": "save"}).status_code == 403
    assert browser(outsider).get(address).status_code == 404


def test_a_report_names_the_items_and_is_undone(admin: User, owner: User, agent: Agent) -> None:
    memory = remember(agent)
    browser(admin).post(ADDRESS, {**FORM, "max_total_size_gb": 0, "action": "save"})
    lifecycle_run()
    report = LifecycleReport.objects.get(step="evict")
    address = f"/storage/reports/{report.id}/"
    assert address in browser(admin).get("/storage/").content.decode()
    page = browser(admin).get(address).content.decode()
    assert f'<a href="/memories/{memory.id}/">Tea</a>' in page
    assert "Undo" in page
    assert browser(owner).get(address).status_code == 403
    assert browser(owner).post(f"{address}undo/").status_code == 403
    assert browser(admin).post(f"{address}undo/").status_code == 302
    undo_lifecycle(Job.objects.get(kind="undo_lifecycle"), lambda _: None)
    assert Memory.objects.get().tier == "hot"
    page = " ".join(browser(admin).get(address).content.decode().split())
    assert "undid this: 1 item is as before" in page
    again = browser(admin).post(f"{address}undo/", follow=True).content.decode()
    assert "This was undone already." in again
    assert browser(admin).get(f"/storage/reports/{memory.id}/").status_code == 404


def test_the_page_of_a_memory_says_where_it_is_stored(admin: User, agent: Agent) -> None:
    memory = remember(agent)
    page = " ".join(browser(admin).get(f"/memories/{memory.id}/").content.decode().split())
    assert "Stored as it was written; contexts find it. No context included it yet. It is compressed after" in page


def test_admins_read_the_alert_of_memory_pressure(admin: User, owner: User) -> None:
    memory_pressure_changed.send(sender=LifecycleReport, share=0.83, is_high=True)
    for person, is_shown in ((admin, True), (owner, False)):
        for address in ("/", "/notifications/", "/alerts/"):
            page = browser(person).get(address)
            assert page.status_code == 200
        assert ("83%" in page.content.decode()) is is_shown


def test_what_is_cold_is_found_by_its_name_and_warms_up(admin: User, agent: Agent) -> None:
    facts = MemoryFacts(kind="fact", text="The kettle takes four minutes.", external_id="note-17")
    [memory] = memories_create(owner=agent, facts=[facts], principal=SYSTEM)
    things_move(MEMORIES, [memory.id], Tier.COLD)
    person = browser(admin)
    for words, is_found in (("kettle", False), ("note-17", True), (str(memory.id), True)):
        page = person.get("/search/", {"q": words}).content.decode()
        assert (f"/memories/{memory.id}/" in page) is is_found, words
    for expected in (Tier.WARM, Tier.HOT):
        assert "The kettle takes four minutes." in person.get(f"/memories/{memory.id}/").content.decode()
        assert Memory.objects.get().tier == expected
