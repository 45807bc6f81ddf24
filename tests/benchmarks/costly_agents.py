"""The agents that costly requests are about: one that stores next to nothing, one that stores the most of everything,
and one whose files have versions that are costly to compare."""

import datetime
from typing import Any

from tests.costly_inputs import comparisons

PLAIN, LADEN, COMPARED, TEAM = "plain", "laden", "compared", "costly"
"""Slugs: the three agents, and their team."""
FILE_CHARACTERS = 990_000
COMPARED_KEY = "KNOWLEDGE"
"""Its versions 2 and 3 are the first comparison of `costly_inputs`, 4 and 5 the second, and so on."""


def repeated(piece: str, characters: int) -> str:
    """The piece over and over."""
    return (piece * (characters // len(piece) + 1))[:characters]


def distinct(characters: int, salt: str = "") -> str:
    """Short sentences of which none is said twice."""
    made, length, number = [], 0, 0
    while length < characters:
        made.append(f"{salt}w{number} x{number % 97}. ")
        length += len(made[-1])
        number += 1
    return "".join(made)[:characters]


def laden(now: datetime.datetime) -> dict[str, str]:
    """Make the team, the plain and the laden agent. Return what the paths of requests name besides: the day of a full
    log, and the moment."""
    from agents.services import agent_create, daily_log_append
    from memories.services import MemoryFacts, events_create, memories_create
    from memories.services.document import documents_create
    from teams.principal import SYSTEM
    from teams.services import team_create
    from teams.versioned_text.versioned_file import file_save

    team = team_create(slug=TEAM, name="Costly")
    agent_create(slug=PLAIN, name="Plain", teams=[team], instructions="Be kind.")
    agent = agent_create(slug=LADEN, name="Laden", teams=[team])
    files: list[Any] = [*agent.files.all(), *team.files.all()]
    for file in files:
        file_save(
            file=file,
            content=distinct(FILE_CHARACTERS, file.file_key),
            expected_version=file.version,
            author=SYSTEM.author,
        )
    for day in range(7):
        for part in range(5):
            text = distinct(190_000, f"{day}{part}")
            daily_log_append(agent=agent, date=now.date() - datetime.timedelta(day), text=text, principal=SYSTEM)
    kinds = ("tool_result", "message", "shell_exec", "error")
    events_create(agent=agent, principal=SYSTEM, facts=[
        {"type": kinds[number % 4], "tool": "t" if number % 4 == 0 else "", "occurred_at": now,
         "content": {"stdout": distinct(98_000, f"e{number}")}}
        for number in range(60)
    ])  # fmt: skip
    documents_create(agent=agent, principal=SYSTEM, facts=[
        {"path": f"src/{n}.md", "language": "", "content": distinct(FILE_CHARACTERS, f"d{n}"), "is_open": True}
        for n in range(12)
    ])  # fmt: skip
    facts = [MemoryFacts(kind="fact", text=distinct(19_000, f"m{number}")) for number in range(100)]
    for owner in (agent, team):
        memories_create(owner=owner, facts=facts, principal=SYSTEM)
    made = datetime.datetime.now(datetime.UTC)
    minute = made + datetime.timedelta(minutes=1)
    return {
        "day": now.date().isoformat(),
        "now": f"{made:%Y-%m-%dT%H:%M:%SZ}",
        "minute": f"{minute:%Y-%m-%dT%H:%M}",
    }


def compared_versions() -> None:
    """Make the agent whose file was changed in all the ways that are costly to compare."""
    from agents.services import agent_create
    from teams.principal import SYSTEM
    from teams.versioned_text.versioned_file import file_save

    agent = agent_create(slug=COMPARED, name="Compared")
    file: Any = agent.files.get(file_key=COMPARED_KEY)
    for version, text in enumerate((text for make in comparisons(FILE_CHARACTERS).values() for text in make()), 1):
        file_save(file=file, content=text, expected_version=version, author=SYSTEM.author)
