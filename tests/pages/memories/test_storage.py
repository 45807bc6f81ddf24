"""The pages of storage: what they say to whom, the preview, and saving."""

import pytest
from django.test import Client

from agents.models import Agent
from memories.lifecycle.hourly_run import lifecycle_run
from memories.lifecycle.kv_policies import PolicyBook
from memories.models import KVPolicyVersion, Memory
from memories.services import MemoryFacts, memories_create
from teams.models import User
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
    assert "README*, *.md stay as they are for 12 hours, up to 50 MB." in " ".join(page.split())
    assert "Compressed" in page
    assert 'id="reports"' in page
    assert 'id="reports"' not in browser(teammate).get("/storage/").content.decode()


def test_a_preview_says_what_would_happen_and_saves_nothing(admin: User, agent: Agent) -> None:
    remember(agent)
    page = " ".join(browser(admin).post(ADDRESS, {**FORM, "action": "preview"}).content.decode().split())
    assert "The next run would compress 1 items; with the present policy, 0." in page
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


def test_the_page_of_a_memory_says_where_it_is_stored(admin: User, agent: Agent) -> None:
    memory = remember(agent)
    page = " ".join(browser(admin).get(f"/memories/{memory.id}/").content.decode().split())
    assert "Stored as it was written; contexts find it. No context included it yet. It is compressed after" in page
