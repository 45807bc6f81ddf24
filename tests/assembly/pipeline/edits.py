"""One edit of every kind of thing that a context can be made of, for tests that nothing changed is ever missed."""

import datetime
import re
from collections.abc import Callable
from random import Random
from typing import Any

from django.utils import timezone

from agents.models import Agent, AgentFile, AgentTeam
from agents.services import daily_log_append, daily_log_delete
from assembly.models import StoredProfile, StoredRule
from assembly.profiles.shipped import SHIPPED
from memories.models import Chunk, Document, Entity, Event, Memory, Pattern, Relation, Session, TaskFrame, Thread, Tool
from memories.services import MemoryFacts, memories_of, memory_create, memory_delete
from teams.models import Team, TeamFile
from teams.principal import SYSTEM
from teams.versioned_text.versioned_file import file_create, file_save

Edit = Callable[[Agent, Team, Random], object]
"""Changes something that belongs to the agent or the team, if it has any."""


def _word(chance: Random) -> str:
    return f"{chance.choice(['ink', 'paper', 'press', 'issue', 'deadline'])} {chance.randrange(1_000)}"


def _edit_file(file: AgentFile | TeamFile, chance: Random) -> None:
    file_save(file=file, content=_word(chance), expected_version=file.version, author=SYSTEM.author)


def _add_memory(owner: Agent | Team, chance: Random) -> None:
    memory_create(owner=owner, facts=MemoryFacts(kind="fact", text=f"The {_word(chance)} is ready"), principal=SYSTEM)


def _delete_memory(owner: Agent | Team) -> None:
    if memory := memories_of(owner).first():
        memory_delete(memory=memory, principal=SYSTEM)


def _supersede(agent: Agent, team: Team, chance: Random) -> None:
    old, new = (*memories_of(agent)[:2], None, None)[:2]
    if old and new:
        Memory.objects.filter(id=old.id).update(superseded_by=new, pinned=False)


def _pin(agent: Agent, team: Team, chance: Random) -> None:
    if memory := memories_of(team).filter(superseded_by=None, retired_because="").order_by("id").first():
        Memory.objects.filter(id=memory.id).update(pinned=not memory.pinned)


def _retire(agent: Agent, team: Team, chance: Random) -> None:
    if memory := memories_of(team).filter(superseded_by=None).order_by("-id").first():
        because = "" if memory.retired_because else _word(chance)
        Memory.objects.filter(id=memory.id).update(retired_because=because, pinned=False)


def _add_log(agent: Agent, team: Team, chance: Random) -> None:
    day = timezone.now().date() - datetime.timedelta(days=chance.randrange(8))
    daily_log_append(agent=agent, date=day, text=_word(chance), principal=SYSTEM)


def _delete_log(agent: Agent, team: Team, chance: Random) -> None:
    if log := agent.daily_logs.first():
        daily_log_delete(log=log, principal=SYSTEM)


def _leave_or_join(agent: Agent, team: Team, chance: Random) -> None:
    if not AgentTeam.objects.filter(agent=agent, team=team).delete()[0]:
        AgentTeam.objects.create(agent=agent, team=team)


def _add_event(agent: Agent, team: Team, chance: Random) -> None:
    Event.objects.create(
        agent=agent, session=Session.objects.filter(agent=agent).first(), type="message",
        content={"role": "user", "text": _word(chance)}, size=40, occurred_at=timezone.now(),
    )  # fmt: skip


def _edit_profile(agent: Agent, team: Team, chance: Random) -> None:
    budget = chance.randrange(200, 9_000)
    content = re.sub(r"^budget: .*$", f"budget: {budget}", SHIPPED["coding"], flags=re.MULTILINE)
    file = StoredProfile.objects.filter(name="coding").first()
    if file:
        file_save(file=file, content=content, expected_version=file.version, author=SYSTEM.author)
    else:
        file_create(file=StoredProfile(name="coding", content=content), author=SYSTEM.author)


RULES = [
    "then: {exclude: [{source: agent_memories}]}\n",
    "then: {exclude: [{kg_entity: ink}], boost: [{source: recent_events, weight: 3}]}\n",
    "then: {always_include: [{path: press.md}, {memory_kind: fact}]}\n",
    "when: {task_contains: [ink]}\nthen: {always_include: [{path: GOALS}]}\n",
]


def _edit_rule(name: str, chance: Random, **owner: Agent | Team) -> None:
    StoredRule.objects.update_or_create(name=name, defaults={**owner, "content": chance.choice(RULES)})


def _changed(model: Any, **values: Callable[[Random], Any]) -> Edit:
    """An edit that sets columns of any one row of the model."""

    def edit(agent: Agent, team: Team, chance: Random) -> None:
        ids = sorted(model.objects.values_list("pk", flat=True))
        for id_ in chance.sample(ids, min(1, len(ids))):
            model.objects.filter(pk=id_).update(**{name: value(chance) for name, value in values.items()})

    return edit


def _deleted(model: Any) -> Edit:
    """An edit that deletes any one row of the model."""

    def edit(agent: Agent, team: Team, chance: Random) -> None:
        ids = sorted(model.objects.values_list("pk", flat=True))
        for id_ in chance.sample(ids, min(1, len(ids))):
            model.objects.filter(pk=id_).delete()

    return edit


EDITS: dict[str, Edit] = {
    "nothing": lambda _agent, _team, _chance: None,
    "an agent's file": lambda agent, _team, chance: _edit_file(chance.choice(agent.files.order_by("file_key")), chance),
    "a team's file": lambda _agent, team, chance: _edit_file(chance.choice(team.files.order_by("file_key")), chance),
    "a log": _add_log,
    "a log deleted": _delete_log,
    "a memory of the agent": lambda agent, _team, chance: _add_memory(agent, chance),
    "a memory of the team": lambda _agent, team, chance: _add_memory(team, chance),
    "a memory changed": _changed(Memory, text=_word),
    "a memory of the agent deleted": lambda agent, _team, _chance: _delete_memory(agent),
    "a memory of the team deleted": lambda _agent, team, _chance: _delete_memory(team),
    "a memory superseded": _supersede,
    "a memory pinned or not": _pin,
    "a memory retired or not": _retire,
    "the agent's name": _changed(Agent, name=_word),
    "the agent's time zone": _changed(Agent, timezone=lambda chance: chance.choice(["UTC", "Pacific/Kiritimati"])),
    "the team's name": _changed(Team, name=_word),
    "the agent's team": _leave_or_join,
    "a profile": _edit_profile,
    "a rule of the agent": lambda agent, _team, chance: _edit_rule("hurry", chance, agent=agent),
    "a rule of the team": lambda _agent, team, chance: _edit_rule("ours", chance, team=team),
    "a rule for everybody": lambda _agent, _team, chance: _edit_rule("all", chance),
    "a rule switched": _changed(StoredRule, enabled=lambda chance: chance.random() < 0.5),
    "an event": _add_event,
    "an event changed": _changed(Event, content=lambda chance: {"role": "user", "text": _word(chance)}),
    "an event deleted": _deleted(Event),
    "a session": _changed(Session, title=_word),
    "an entity": _changed(Entity, salience=Random.random),
    "an entity's aliases": _changed(Entity, names=lambda chance: [_word(chance), "ink"]),
    "a relation": _changed(Relation, weight=Random.random),
    "a relation deleted": _deleted(Relation),
    "a pattern": _changed(Pattern, guidance=_word),
    "a pattern deleted": _deleted(Pattern),
    "a document": _changed(Document, content=_word, is_open=lambda chance: chance.random() < 0.5),
    "a chunk": _changed(Chunk, text=_word),
    "a chunk deleted": _deleted(Chunk),
    "a thread": _changed(Thread, summary=_word),
    "a thread deleted": _deleted(Thread),
    "a tool": _changed(Tool, description=_word),
    "a tool deleted": _deleted(Tool),
    "a task": _changed(TaskFrame, goal=_word),
    "a task done": _changed(TaskFrame, status=lambda _chance: "complete", result=_word),
}
