"""The costliest requests that the limits allow: for each route that computes, the worst input that was found.

`laden()` makes the agents that they are about; `costly_requests()` lists them. Routes that read one context name it
`{assembly}`: a context that the agent `laden` was given.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

PLAIN, LADEN, TEAM = "plain", "laden", "costly"
"""Slugs: an agent that keeps next to nothing, one that keeps the most of everything, and their team."""
PROFILES = ("conversation", "coding", "research", "operations", "stack")
RULE = "when:\n  intent: [question]\nthen:\n  - always_include: [file_read]\n"

Body = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class CostlyRequest:
    """One request. `body` makes what is sent: JSON over REST, the fields of a form to a page; None: it is a GET."""

    name: str
    path: str
    body: Body | None = None
    method: Literal["GET", "POST", "PUT", "PATCH"] = "POST"

    @property
    def is_page(self) -> bool:
        """Whether a person asks for it, signed in, and no key."""
        return not self.path.startswith("/api/")


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


def costly_requests() -> list[CostlyRequest]:
    """All of them."""
    return [*_texts(), *_assemblies(), *_writes(), *_contexts(), *_trials(), *_pages()]


def _api(name: str, path: str, body: Body | None = None) -> CostlyRequest:
    return CostlyRequest(name, f"/api/v1/{path}", body, "GET" if body is None else "POST")


def _texts() -> list[CostlyRequest]:
    most = 300_000
    patterns = {
        "digits": "1", "letters": "a", "emoji": "\U0001f600", "sentences": "a.\n", "east_asian": "\u4e2d\u3002",
        "links": "[a](", "private": "\ue000",
    }  # fmt: skip
    found = []
    for name, piece in patterns.items():
        text = repeated(piece, most)
        found += [
            _api(f"tokens {name}", "tokens", lambda text=text: {"content": text}),  # type: ignore[misc]
            _api(f"compress {name}", "compress", lambda text=text: {"content": text, "max_tokens": 9_000}),  # type: ignore[misc]
        ]
    spaced = "".join(f"word{number} tells.{' ' * 120}\t\u2003\n" for number in range(2_200))
    return [
        *found,
        _api("compress distinct", "compress", lambda: {"content": distinct(most), "max_tokens": 90_000}),
        _api("compress spaced", "compress", lambda: {"content": spaced[:most], "max_tokens": 20_000}),
    ]


def _turns(characters: int, turns: int, make: Callable[[int, int], str]) -> list[dict[str, str]]:
    each = characters // turns
    return [{"role": ("user", "assistant")[number % 2], "content": make(each, number)} for number in range(turns)]


def _assembly(agent: str, **wishes: Any) -> Body:
    numbers = itertools.count()
    # A topic of its own each time, so that no cache answers.
    return lambda: {"agent": agent, "team": TEAM, "topic": f"{distinct(3_900)} {next(numbers)}", **wishes}


def _assemblies() -> list[CostlyRequest]:
    kinds: dict[str, Callable[[int, int], str]] = {
        "distinct": lambda characters, number: distinct(characters, f"t{number}"),
        "letters": lambda characters, number: chr(97 + number % 26) * characters,
        "emoji": lambda characters, number: chr(0x1F600 + number % 60) * characters,
        "spaces": lambda characters, number: repeated(f"a{number}.\t \u2003\n \n", characters),
    }
    found = []
    for (name, make), turns in itertools.product(kinds.items(), (4, 40, 1_000)):
        history = _turns(400_000, turns, make)
        for profile, budget in (("research", None), ("stack", 200_000)):
            wishes = {"history": history, "profile": profile, "max_tokens": budget}
            found.append(_api(f"assembly {profile} {turns} turns {name}", "assemblies", _assembly(PLAIN, **wishes)))
    for profile, budget in itertools.product(
        ("conversation", "coding", "research", "operations", "stack"), (0, 200_000)
    ):
        wishes = {"profile": profile, "max_tokens": budget}
        found.append(_api(f"assembly laden {profile} {budget}", "assemblies", _assembly(LADEN, **wishes)))
    excluding = {"profile": "stack", "filters": {"exclude": [f"event:{number}" for number in range(200)]}}
    found.append(_api("assembly laden excluding", "assemblies", _assembly(LADEN, **excluding)))
    return found


def _items(count: int, make: Callable[[int], dict[str, Any]]) -> Body:
    return lambda: {"items": [make(number) for number in range(count)]}


def _writes() -> list[CostlyRequest]:
    keeps = f"agents/{PLAIN}"
    words, emoji = distinct(1_990), repeated("\U0001f600", 400)
    event = {"type": "tool_result", "tool": "t", "content": {"text": repeated("a b ", 4_500)}}
    deep = {"type": "message", "content": {"a": [{"b": [number] * 5} for number in range(3_000)]}}
    return [
        _api("memories batch", f"{keeps}/memories/batch", _items(1_000, lambda _: {"kind": "fact", "text": words})),
        _api("memories emoji", f"{keeps}/memories/batch", _items(1_000, lambda _: {"kind": "fact", "text": emoji})),
        _api("events batch", f"agents/{PLAIN}/events/batch", _items(1_000, lambda _: event)),
        _api("events deep", f"agents/{PLAIN}/events/batch", _items(60, lambda _: deep)),
        _api("entities batch", f"agents/{PLAIN}/entities/batch", _items(1_000, lambda number: {
            "type": "thing", "name": f"n{number} " + "x" * 180,
            "properties": {f"k{key}": "v" * 80 for key in range(45)},
        })),
        _api("search", f"agents/{LADEN}/memories/search", None),
        _api("log append", f"agents/{PLAIN}/daily-logs/2026-01-01", lambda: {"text": repeated("a ", 199_000)}),
    ]  # fmt: skip


def _contexts() -> list[CostlyRequest]:
    """What is done with a context that is there already."""
    context = "assemblies/{assembly}"
    rule = f"description: d\n{RULE}"
    return [
        _api("context read", "assemblies/{assembly}"),
        _api("context decisions", "assemblies/{assembly}/decisions?limit=200"),
        _api("context replay", "assemblies/{assembly}/replay", dict),
        _api("context again", "assemblies/{assembly}/again?include=content"),
        _api("context as of", "assemblies/{assembly}/as-of"),
        _api("context compare", "assemblies/compare?before={assembly}&after={other}&include=content"),
        _api("what if tokenizer", f"{context}/what-if", lambda: {"tokenizer": "chars4", "include": ["content"]}),
        _api("what if budget", f"{context}/what-if", lambda: {"max_tokens": 200_000, "topic": distinct(3_900)}),
        _api("why not log", "assemblies/{assembly}/why-not?q=daily_log"),
        _api("append", "assemblies/{assembly}/append", lambda: {
            "event": {"type": "message", "content": {"text": distinct(99_000)}},
        }),
        _api("rules try", "rules/try", lambda: {"agent": LADEN, "content": rule}),
    ]  # fmt: skip


def _trials() -> list[CostlyRequest]:
    files = {key: distinct(950_000, key) for key in ("INSTRUCTIONS", "KNOWLEDGE", "GOALS", "CONTEXT", "RULES")}
    letters = {key: repeated(letter, 950_000) for key, letter in zip(files, "abcde", strict=True)}
    asked = {"agent": PLAIN, "team": TEAM, "max_tokens": 200_000}
    return [
        _api("trial distinct", "trials", lambda: {**asked, "files": files}),
        _api("trial letters", "trials", lambda: {**asked, "files": letters, "include": ["content"]}),
    ]


def _pages() -> list[CostlyRequest]:
    def page(name: str, path: str, body: Body | None = None) -> CostlyRequest:
        return CostlyRequest(name, path, body, "GET" if body is None else "POST")

    def size(name: str, piece: str, characters: int) -> CostlyRequest:
        text = repeated(piece, characters)
        return page(f"page size {name}", "/size/KNOWLEDGE/", lambda: {"content": text, "text": text})

    return [
        page("page log", f"/agents/{LADEN}/logs/{{day}}/"),
        page("page log edit", f"/agents/{LADEN}/logs/{{day}}/edit/"),
        page("page file", f"/agents/{LADEN}/files/KNOWLEDGE/"),
        page("page version", f"/agents/{LADEN}/files/KNOWLEDGE/history/2/"),
        page("page context", "/contexts/{assembly}/"),
        page("page items", "/contexts/{assembly}/items/"),
        page("page exact", "/contexts/{assembly}/exact/"),
        page("page record", "/contexts/{assembly}/json/"),
        page("page why not", "/contexts/{assembly}/why-not/?q=w1"),
        page("page again", "/contexts/{assembly}/again/"),
        page("page compare", "/contexts/compare/?before={assembly}&after={other}"),
        page("page agent", f"/agents/{LADEN}/"),
        size("letters", "a", 990_000),
        size("links", "[", 99_000),
        size("quotations", "> ```\n===\n", 99_000),
        page("page as of", f"/agents/{LADEN}/as-of/?at=2026-01-01T00:00&profile=stack&topic=w1"),
    ]


def laden(now: Any) -> dict[str, str]:
    """Make the team and its two agents. Return what the paths of requests name besides: the day of a full log."""
    import datetime

    from agents.services import agent_create, daily_log_append
    from memories.services import MemoryFacts, events_create, memories_create
    from memories.services.document import documents_create
    from teams.files import file_save
    from teams.principal import SYSTEM
    from teams.services import team_create

    team = team_create(slug=TEAM, name="Costly")
    agent_create(slug=PLAIN, name="Plain", teams=[team], instructions="Be kind.")
    agent = agent_create(slug=LADEN, name="Laden", teams=[team])
    files: list[Any] = [*agent.files.all(), *team.files.all()]
    for file in files:
        file_save(
            file=file, content=distinct(990_000, file.file_key), expected_version=file.version, author=SYSTEM.author
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
        {"path": f"src/{number}.md", "language": "", "content": distinct(990_000, f"d{number}"), "is_open": True}
        for number in range(12)
    ])  # fmt: skip
    facts = [MemoryFacts(kind="fact", text=distinct(19_000, f"m{number}")) for number in range(100)]
    for owner in (agent, team):
        memories_create(owner=owner, facts=facts, principal=SYSTEM)
    return {"day": now.date().isoformat()}
