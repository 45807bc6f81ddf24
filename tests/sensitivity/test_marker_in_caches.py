"""What a process keeps in its memory after a request has no text above the level that CACHE_SENSITIVITY permits.

Looked into is all that is reachable from the variables of the program's modules, so no cache can be forgotten.
"""

import gc
import sys
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import pytest
from django.test import Client

from agents.models import Agent
from assembly.conflicts.find import item_conflicts_find
from assembly.models import Assembly
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.reader import load_record
from assembly.simulation.draft_preview.services import preview_drafts
from memories.jobs.services import KINDS, job_create
from memories.models import Memory
from memories.services import MemoryFacts, memories_create
from teams.models import Team, User
from teams.principal import SYSTEM
from teams.sensitivity import Sensitivity, reading_as
from teams.versioned_text.versioned_file import file_save
from tests import personas
from tests.assembly.conflicts.conflict_factories import conflict_between
from tests.sensitivity.restricted_things import WRITER, add_files, add_items, add_memories

(owner, editor, teammate, team, agent) = personas.once_per_module(
    personas.owner, personas.editor, personas.teammate, personas.team, personas.agent
)
OWN = ("agents", "assembly", "config", "memories", "privacy", "teams")
CODE = (ModuleType, type, FunctionType, BuiltinFunctionType, MethodType)
MARKER = "Vyqxkept"
"""Not the marker of other tests, whose fixtures pytest keeps."""
PLAIN = "Plainly"


def kept_in_memory() -> Iterator[tuple[str, Any]]:
    """Everything that is reachable from the variables of the program's modules, apart from code, with the variable."""
    modules = [(name, module) for name, module in [*sys.modules.items()] if name.partition(".")[0] in OWN]
    waiting = [
        (f"{name}.{variable}", one)
        for name, module in modules
        for variable, one in vars(module).items()
        if not issubclass(type(one), CODE) or hasattr(one, "cache_info")
    ]
    seen = {id(waiting), id(modules)}
    while waiting:
        place, one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield place, one
        members = [getattr(one, name, None) for name in getattr(type(one), "__struct_fields__", ())]
        waiting += [
            (place, member)
            for member in (*gc.get_referents(one), *members)
            if not issubclass(type(member), CODE)  # isinstance would evaluate what is lazy
        ]


def places_with(word: str) -> set[str]:
    """The variables from which a text or bytes with the word are reached."""
    octets = word.encode()
    return {
        place
        for place, one in kept_in_memory()
        if (type(one) is str and word in one) or (type(one) is bytes and octets in one)
    }


@pytest.fixture(scope="module")
def stocked(module_database: str, agent: Agent, team: Team) -> Agent:
    """An agent with restricted things that are told, and internal ones."""
    add_items(agent, MARKER, Sensitivity.RESTRICTED)
    add_files(agent, team, MARKER)
    add_memories(agent, team, MARKER)
    file = team.files.get(file_key="RULES")
    file_save(file=file, content=f"# {MARKER}\n\n" + f"{MARKER} is a tea.\n\n" * 300, expected_version=file.version,
              author=WRITER.author)  # fmt: skip
    facts = [MemoryFacts(kind="fact", text=f"{PLAIN} {number} cups of tea") for number in range(3)]
    memories_create(owner=agent, facts=facts, principal=SYSTEM)
    conflict_between(*Memory.objects.filter(sensitivity=Sensitivity.RESTRICTED).order_by("id")[:2])
    Agent.objects.filter(pk=agent.pk).update(clearance=Sensitivity.RESTRICTED)
    agent.refresh_from_db()
    return agent


def use(agent: Agent, team: Team, owner: User) -> None:
    """Ask for contexts, look at them and at texts, try drafts, and compare texts, as somebody who may read all."""
    browser = Client()
    browser.force_login(owner)
    for profile in ("stack", "memory", "coding"):
        asked = AssemblyRequest(topic=f"{PLAIN} {MARKER} tea", profile=profile, max_tokens=900, sensitivity=3)
        for _ in range(2):
            told = assemble(agent=agent, team=team, asked=asked, principal=owner.principal)
        assert MARKER in told.content
        load_record(Assembly.everything.get(id=told.assembly.id))
        for tab in ("", "items/", "text/"):
            browser.get(f"/contexts/{told.assembly.id}/{tab}")
        with reading_as(owner.principal):
            preview_drafts(agent=agent, team=team, asked=asked, texts={})
    pages = ["files/RULES/", "files/RULES/history/", "memories/"]
    assert all(MARKER in browser.get(f"/teams/{team.slug}/{page}").content.decode() for page in pages[:1])
    memory = Memory.objects.filter(agent=agent, sensitivity=Sensitivity.RESTRICTED).order_by("id")[0]
    assert MARKER in browser.get(f"/memories/{memory.id}/").content.decode()
    item_conflicts_find(kind="memory", id_=memory.id)
    arguments = {"items": [["memory", str(memory.id)]]}
    job = job_create(kind="find_conflicts", arguments=arguments, agent=None, principal=SYSTEM)
    KINDS["find_conflicts"](job, lambda _steps: None)


@pytest.mark.usefixtures("_uncollected_static_files")
def test_nothing_restricted_is_kept(stocked: Agent, team: Team, owner: User, settings: Any) -> None:
    use(stocked, team, owner)
    gc.collect()
    assert places_with(MARKER) == set()
    plain = AssemblyRequest(topic="tea", profile="memory", max_tokens=900, privacy_mode="strict")
    assemble(agent=stocked, team=team, asked=plain, principal=owner.principal)
    assert places_with(f"{PLAIN} 1 cups")


@pytest.mark.deep
@pytest.mark.usefixtures("_uncollected_static_files")
def test_where_the_setting_permits_it_it_is_kept(stocked: Agent, team: Team, owner: User, settings: Any) -> None:
    settings.CACHE_SENSITIVITY = "restricted"
    use(stocked, team, owner)
    assert places_with(MARKER)
