"""The costliest requests that the limits allow: for each route that computes, the worst input that was found.

`costly_agents` makes whom they are about. Paths and bodies name in braces what is known once that is made: `{assembly}`
and `{other}`, two contexts that the agent `laden` was given; `{proposal}` on the first; `{day}`, `{now}`, `{minute}`.
"""

import itertools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote, urlencode

from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from tests.benchmarks.costly_agents import (
    COMPARED,
    COMPARED_KEY,
    FILE_CHARACTERS,
    LADEN,
    PLAIN,
    TEAM,
    distinct,
    repeated,
)
from tests.costly_inputs import archive_of_memories, archive_of_owners, comparisons, merges, previews, zipped

PROFILES = ("conversation", "coding", "research", "operations", "stack")
MOST_OWNERS = 500
"""Agents of an import."""
RULE = """description: d
then:
  always_include:
    - path: "**"
    - kg_entity: n1
    - memory_kind: fact
  boost:
    - source: recent_events
      weight: 2.0
"""

Body = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class CostlyRequest:
    """One request. `body` makes what is sent: over REST JSON or a zip, to a page the fields of a form; None: a GET."""

    name: str
    path: str
    body: Body | None = None
    method: Literal["GET", "POST", "PUT", "PATCH"] = "POST"

    @property
    def is_page(self) -> bool:
        """Whether a person asks for it, signed in, and no key."""
        return not self.path.startswith("/api/")

    def sent(self, names: Mapping[str, str]) -> "Sent":
        """Return its path, body and content type, with the names put in. Some fields of bodies differ each time."""
        path, body = _named(self.path, names), self.body() if self.body else b""
        if isinstance(body, bytes):
            return Sent(path, body, "application/zip")
        if self.is_page:  # as browsers send our forms
            return Sent(path, _named(encode_multipart(BOUNDARY, body).decode(), names).encode(), MULTIPART_CONTENT)
        return Sent(path, _named(json.dumps(body), names).encode(), "application/json")


@dataclass(frozen=True, slots=True)
class Sent:
    """A request as it goes over the wire."""

    path: str
    body: bytes
    content_type: str


def _named(text: str, names: Mapping[str, str]) -> str:
    for name, value in names.items():
        text = text.replace(f"{{{name}}}", value).replace(quote(f"{{{name}}}"), quote(value))
    return text


def costly_requests() -> list[CostlyRequest]:
    """All of them."""
    return [
        *_texts(), *_assemblies(), *_writes(), *_contexts(), *_trials(), *_imports(), *_comparisons(), *_pages(),
        *_drafts(),
    ]  # fmt: skip


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
    deep = {"type": "message", "content": {"a": [{"b": [number] * 5} for number in range(2_500)]}}
    return [
        _api("memories batch", f"{keeps}/memories/batch", _items(1_000, lambda _: {"kind": "fact", "text": words})),
        _api("memories emoji", f"{keeps}/memories/batch", _items(1_000, lambda _: {"kind": "fact", "text": emoji})),
        _api("events batch", f"agents/{PLAIN}/events/batch", _items(1_000, lambda _: event)),
        _api("events deep", f"agents/{PLAIN}/events/batch", _items(50, lambda _: deep)),
        _api("entities batch", f"agents/{PLAIN}/entities/batch", _items(1_000, lambda number: {
            "type": "thing", "name": f"n{number} " + "x" * 180,
            "properties": {f"k{key}": "v" * 80 for key in range(45)},
        })),
        _api("search", f"agents/{LADEN}/memories/search?limit=50&q={quote(distinct(2_000))}"),
        _api("log append", f"agents/{PLAIN}/daily-logs/2026-01-01", lambda: {"text": repeated("a ", 199_000)}),
    ]  # fmt: skip


def _contexts() -> list[CostlyRequest]:
    """What is done with a context that is there already."""
    context = "assemblies/{assembly}"
    return [
        _api("context read", "assemblies/{assembly}"),
        _api("context decisions", "assemblies/{assembly}/decisions?limit=200"),
        _api("context replay", "assemblies/{assembly}/replay", dict),
        _api("context again", "assemblies/{assembly}/rerun?include=content"),
        _api("context as of", "assemblies/{assembly}/as-of?at={now}"),
        _api("agent as of", f"agents/{LADEN}/as-of?at={{now}}&profile=stack&max_tokens=200000&topic=w1"),
        _api("context bundle", "assemblies/{assembly}/bundle"),
        _api("context compare", "assemblies/compare?before={assembly}&after={other}&include=content"),
        _api("what if tokenizer", f"{context}/what-if", lambda: {"tokenizer": "chars4", "include": ["content"]}),
        _api("what if budget", f"{context}/what-if", lambda: {"max_tokens": 200_000, "topic": distinct(3_900)}),
        _api("why not log", "assemblies/{assembly}/why-not?q=daily_log"),
        _api("append", "assemblies/{assembly}/append", lambda: {
            "event": {"type": "message", "content": {"text": distinct(99_000)}},
        }),
        _api("rules try", "rules/backtest", lambda: {"agent": LADEN, "content": RULE}),
        _api("proposal", "proposals", lambda: {"assembly_id": "{assembly}", "overrides": {"max_tokens": 200_000}}),
        _api("proposal try", "proposals/{proposal}/rerun", dict),
    ]  # fmt: skip


def _trials() -> list[CostlyRequest]:
    files = {key: distinct(950_000, key) for key in ("INSTRUCTIONS", "KNOWLEDGE", "GOALS", "CONTEXT", "RULES")}
    letters = {key: repeated(letter, 950_000) for key, letter in zip(files, "abcde", strict=True)}
    asked = {"agent": PLAIN, "team": TEAM, "max_tokens": 200_000}
    return [
        _api("trial distinct", "draft-previews", lambda: {**asked, "files": files}),
        _api("trial letters", "draft-previews", lambda: {**asked, "files": letters, "include": ["content"]}),
    ]


def _imports() -> list[CostlyRequest]:
    archives = {
        "owners": lambda: archive_of_owners(MOST_OWNERS),
        "memories": lambda: archive_of_memories(PLAIN),
        "logs": lambda: zipped(
            {f"agents/{PLAIN}/memory/2025-01-{day:02}.md": distinct(FILE_CHARACTERS, f"l{day}") for day in range(1, 21)}
        ),
    }
    return [_api(f"import {name}", "import?dry_run=true", make) for name, make in archives.items()]


def _comparisons() -> list[CostlyRequest]:
    """Versions of a file, two and two, over REST and as people read them."""
    file, found = f"agents/{COMPARED}/files/{COMPARED_KEY}", []
    for number, name in enumerate(comparisons(FILE_CHARACTERS)):
        before, after = 2 + 2 * number, 3 + 2 * number
        page = f"/{file}/history/compare/?from={before}&to={after}"
        found += [
            _api(f"compare {name}", f"{file}/versions/{before}/compare?with={after}"),
            CostlyRequest(f"page compare {name}", page, method="GET"),
        ]
    return found


def _drafts() -> list[CostlyRequest]:
    """Pages of a text that is being written: previews, what agents will see, and two texts brought together."""
    address = f"/agents/{COMPARED}/files/{COMPARED_KEY}/"

    def deed(name: str, text: str = "", version: int = 2, at: str = address) -> CostlyRequest:
        facts = {"deed": name.split(maxsplit=1)[0], "version": version, "content": text}
        return CostlyRequest(f"page {name}", at, lambda: facts)

    found = [deed(f"preview {name}", text) for name, text in previews(FILE_CHARACTERS).items()]
    pairs = [make() for make in comparisons(FILE_CHARACTERS).values()]
    for number, (name, (_, yours, theirs)) in enumerate(itertools.islice(merges(FILE_CHARACTERS), 0, None, 2)):
        # The first is stored as a draft; the second, written in another window, is brought together with it.
        version = 2 + 2 * number
        assert pairs[number][1] == yours
        found += [deed(f"{what} {name}", text, version) for what, text in
                  (("discard", ""), ("keep draft", theirs), ("keep other", yours))]  # fmt: skip
    preview = f"/agents/{LADEN}/files/KNOWLEDGE/preview/"
    wish = {"topic": "w1", "profile": "stack", "max_tokens": 200_000, "team": TEAM}
    return [
        *found,
        CostlyRequest("draft preview", f"{preview}?{urlencode(wish)}", method="GET"),
        CostlyRequest(
            "draft preview sent", preview, lambda: {**wish, "version": 2, "content": distinct(FILE_CHARACTERS, "s")}
        ),
        CostlyRequest("page preview", "/preview/", lambda: {"agent": LADEN, **wish}),
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
        page("page again", "/contexts/{assembly}/rerun/"),
        page("page compare", "/contexts/compare/?before={assembly}&after={other}"),
        page("page agent", f"/agents/{LADEN}/"),
        size("letters", "a", 990_000),
        size("links", "[", 99_000),
        size("quotations", "> ```\n===\n", 99_000),
        page("page as of", f"/agents/{LADEN}/as-of/?at={{minute}}&profile=stack&topic=w1"),
    ]
