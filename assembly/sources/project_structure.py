"""This source returns the tree of the agent's documents, in which those that changed lately are marked.

It is the live project state of the seed "Context Librarian". A large tree is folded until it has at most
MAX_CHARACTERS: the paths that changed last always stay, and other folders become counts, the deepest first.
"""

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import cast

from msgspec import structs

from assembly.engine.profile import Section
from assembly.engine.scoring import candidate_measures, keyword_share, recency_score
from assembly.engine.types import Candidate, Origin
from assembly.sources.base import GatherContext, SourceResult
from config.db.statements import Statement, run_statement
from config.keys.sealed_texts import open_texts
from teams.origin import least_trusted

MAX_PATHS = 5_000
"""The number of documents that are read, the last changed first; further ones are counted."""
MAX_CHARACTERS = 4_000
"""The length of the tree: about 1,000 tokens."""
LATEST_PATHS = 20
"""The number of last changed paths that stay when a tree is folded; fewer where they alone are too long."""
FLAT_PATHS = 5
"""The number of last changed paths that are listed where even a folded tree is too long, as with very long paths."""
MAX_FOLDED_DEPTH = 12
"""Deeper folders are folded all at once."""
LATELY = datetime.timedelta(hours=24)
HOUR_MINUTES = 60
INDENT = "  "

# Only paths, times and origins are read, never texts.
DOCUMENTS_SQL = """
SELECT path, updated, count(*) OVER (), origin, sensitivity FROM documents
WHERE agent_id = %(agent)s AND sensitivity <= %(clearance)s
ORDER BY updated DESC, path LIMIT %(most)s
"""


def project_structure(gather_context: GatherContext, sections: Sequence[Section]) -> SourceResult:
    """Return the tree as one candidate for each section; none for an agent without documents."""
    parameters = {"agent": gather_context.agent.id, "clearance": gather_context.clearances.agent, "most": MAX_PATHS}
    rows = run_statement(Statement(DOCUMENTS_SQL, parameters))
    if not rows:
        return SourceResult((), len(sections))
    paths, moments, counts, origins, levels = zip(*rows, strict=True)
    changes = [*zip(map(path_in_tree, open_texts(paths)), moments, strict=True)]
    text = format_tree(changes, now=gather_context.now, unread=counts[0] - len(rows))
    newest = moments[0]
    recency = recency_score(gather_context.age(newest))
    relevance = keyword_share(text, gather_context.signals.keywords)
    tree = Candidate(
        ref=f"project_structure:{gather_context.agent.id}",
        section="",
        text=text,
        kind="project_structure",
        occurred_at=newest,
        score=recency,
        measures=candidate_measures(recency=recency, relevance=relevance),
        origin=cast("Origin", least_trusted(*{*origins}).value),
        sensitivity=max(levels),
    )
    return SourceResult([structs.replace(tree, section=section.key) for section in sections], len(sections))


def path_in_tree(path: str) -> str:
    """Return the path in one line, and without a slash at its end, as a file has none."""
    return " ".join(path.split()).rstrip("/") or "/"


def format_tree(changes: Sequence[tuple[str, datetime.datetime]], *, now: datetime.datetime, unread: int = 0) -> str:
    """Return the tree of the paths, given with their times and the last changed first, in at most MAX_CHARACTERS.

    Folders come before files, both by name. `unread` is the number of documents that are not among the paths.
    """
    marks = _Marks(dict(changes), now)
    latest = [path for path, _ in changes[:LATEST_PATHS]]
    root = _tree(path for path, _ in changes)
    rest = [_more(unread)] if unread else []
    for view in _views(latest, deepest=max(path.count("/") for path, _ in changes)):
        if text := _joined(chain(_lines(root, view, marks, 0, ""), rest)):
            return text
    flat = [f"{path}{marks.of(path)}" for path in latest[:FLAT_PATHS]]
    return "\n".join([*flat, _more(len(changes) - len(flat) + unread)])


def _joined(lines: Iterable[str]) -> str:
    """Return the lines as one text; "" if it has more than MAX_CHARACTERS."""
    characters, joined = -1, list[str]()
    for line in lines:
        characters += 1 + len(line)
        if characters > MAX_CHARACTERS:
            return ""
        joined.append(line)
    return "\n".join(joined)


@dataclass(frozen=True, slots=True)
class _Marks:
    """The marks of paths that changed lately, by when they changed; of documents with one path, the oldest counts."""

    changed: Mapping[str, datetime.datetime]
    now: datetime.datetime

    def of(self, path: str) -> str:
        """Return the mark of the path; "" without any."""
        return _mark(self.now - self.changed[path])


@dataclass(slots=True)
class _Folder:
    """A folder has folders and files by name, and the number of all files below it."""

    folders: dict[str, "_Folder"] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    count: int = 0


@dataclass(frozen=True, slots=True)
class _View:
    """A view is the part of a tree that is shown: folders above a depth, whole or as counts, and always the latest
    paths.
    """

    latest: frozenset[str]
    open_folders: frozenset[str]
    """The folders of the latest paths, which are open however deep they are."""
    depth: int = 0
    has_files: bool = False
    has_folders: bool = False

    @classmethod
    def of(cls, latest: Sequence[str]) -> "_View":
        """Return the view of the latest paths alone."""
        folders = {path[: place + 1] for path in latest for place, letter in enumerate(path) if letter == "/"}
        return cls(frozenset(latest), frozenset(folders))


def _views(latest: Sequence[str], deepest: int) -> Iterator[_View]:
    """Yield views of a tree, each shorter than the one before; the last one has a single path."""
    view = _View.of(latest)
    for depth in (deepest, *range(min(deepest - 1, MAX_FOLDED_DEPTH), -1, -1)):
        yield replace(view, depth=depth, has_files=True, has_folders=True)
    yield replace(view, has_folders=True)
    while latest:
        yield _View.of(latest)
        latest = latest[: len(latest) // 2]


def _tree(paths: Iterator[str]) -> _Folder:
    root = _Folder()
    for path in paths:
        *names, file = path.split("/")
        folder = root
        folder.count += 1
        for name in names:
            inner = folder.folders.get(name)
            if inner is None:
                inner = folder.folders[name] = _Folder()
            folder = inner
            folder.count += 1
        folder.files.append(file)
    return root


def _lines(folder: _Folder, view: _View, marks: _Marks, depth: int, path: str) -> Iterator[str]:
    """Yield the lines of a folder at this depth, whose path ends in a slash."""
    indent, closed = INDENT * depth, list[_Folder]()
    for name, inner in sorted(folder.folders.items()):
        whole = f"{path}{name}/"
        if depth < view.depth or whole in view.open_folders:
            yield f"{indent}{name}/"
            yield from _lines(inner, view, marks, depth + 1, whole)
        elif view.has_folders:
            yield f"{indent}{name}/ ({_files(inner.count)})"
        else:
            closed.append(inner)
    has_files = view.has_files and depth <= view.depth
    shown = [name for name in sorted(folder.files) if has_files or f"{path}{name}" in view.latest]
    yield from (f"{indent}{name}{marks.of(f'{path}{name}')}" for name in shown)
    if hidden := len(folder.files) - len(shown) + sum(inner.count for inner in closed):
        yield f"{indent}{_more(hidden)}"


def _more(count: int) -> str:
    return "… 1 more file" if count == 1 else f"… {count:,} more files"


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"


def _mark(age: datetime.timedelta) -> str:
    """Return the mark of a path that changed this long ago; none unless it was lately."""
    if not datetime.timedelta(0) <= age < LATELY:
        return ""
    minutes = int(age.total_seconds() // 60)
    return f" (changed {minutes} min ago)" if minutes < HOUR_MINUTES else f" (changed {minutes // HOUR_MINUTES} h ago)"
