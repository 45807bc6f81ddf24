"""Texts in which an erasure replaced spellings are compared anew, so that their conflicts say what stands there now."""

from agents.models import Agent
from assembly.conflicts.find import noted_conflicts_find
from assembly.conflicts.services import conflict_resolve
from assembly.models import Conflict, UncomparedItem
from memories.jobs.execution import job_run
from memories.models import Entity, Memory
from memories.services import MemoryFacts, agent_items_create, memory_create, memory_update
from privacy.models import SubjectMention
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_save
from tests.privacy.erasure.world import begin, run_all_jobs
from tests.privacy.subject_factories import NAME, link_all, scanned_subject


def compare() -> None:
    while UncomparedItem.objects.exists():
        noted_conflicts_find()
        run_all_jobs()


def erase(*whole: Memory) -> None:
    subject = scanned_subject()
    link_all(subject)
    mentions = SubjectMention.objects.filter(subject=subject, thing__in=[memory.id for memory in whole])
    erasure = begin(subject, whole=[mention.id for mention in mentions])
    assert erasure.job_id
    job_run(job_id=erasure.job_id)
    erasure.refresh_from_db()
    assert erasure.state == "finished"


def opens_at(hour: int) -> str:
    return f"The support line of {NAME} opens at {hour} in the morning."


def test_a_conflict_of_erased_texts_can_be_decided(
    committed_database: str, agent: Agent, team: Team, owner: User
) -> None:
    memory_create(owner=agent, facts=MemoryFacts(kind="fact", text=opens_at(8)), principal=SYSTEM)
    rules = team.files.get(file_key="RULES")
    file_save(file=rules, content=opens_at(9), expected_version=rules.version, author=SYSTEM.author)
    named = {"type": "Person", "name": NAME}
    [entity] = agent_items_create(model=Entity, agent=agent, facts=[named], principal=SYSTEM)
    run_all_jobs()
    compare()
    found = Conflict.objects.waiting().get()
    erase()
    noted = {*UncomparedItem.objects.values_list("item", flat=True)}
    assert {Memory.objects.get().id, rules.id, entity.id} <= noted
    run_all_jobs()
    compare()
    found.refresh_from_db()
    assert (found.status, found.gone_because) == ("gone", "text_changed")
    for conflict in Conflict.objects.waiting():
        assert conflict_resolve(conflict=conflict, choice="both", principal=owner.principal).status == "resolved"


def test_a_memory_stands_again_when_its_successor_is_erased(committed_database: str, agent: Agent) -> None:
    one = memory_create(owner=agent, facts=MemoryFacts(kind="fact", text="Tea is served at noon."), principal=SYSTEM)
    other = memory_create(owner=agent, facts=MemoryFacts(kind="fact", text=f"{NAME} likes tea."), principal=SYSTEM)
    memory_update(
        memory=one,
        expected_version=1,
        facts=MemoryFacts(kind="fact", text=one.text),
        superseded_by=other,
        principal=SYSTEM,
    )
    compare()
    erase(other)
    one.refresh_from_db()
    assert one.stands
    assert UncomparedItem.objects.filter(item=one.id).exists()
