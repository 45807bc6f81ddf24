"""All imports share these functions: they read text strictly, find or create owners, and show progress."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from rich.console import Console
from rich.progress import Progress

from agents.models import Agent
from agents.services import agent_create, agent_files_ensure
from config.http.errors import DossierError
from config.invisible_characters import clean_text
from memories.services import BATCH_ROWS, MemoryFacts, Owner, memories_create
from teams.models import Team, valid_slug
from teams.principal import Principal
from teams.sensitivity import LEVEL_WORDS
from teams.services import team_create, team_files_provision
from teams.versioned_text.versioned_file import MAX_FILE_CHARACTERS

MAX_SLUG_CHARACTERS = 60
MAX_BYTES_PER_CHARACTER = 4
MAX_NAMES_LISTED = 5
MAX_LINES_CHARACTERS = 50_000_000
"""The most characters in a file that is read line by line, because the whole file is held in memory."""
BYTE_ORDER_MARK = "\ufeff"

Advance = Callable[[int], object]
"""A function that is called with the number of further files, logs or memories that are done."""


class ImportRefused(DossierError):
    """Raised where a part of an import cannot be stored; then nothing is stored. The message names the file and the
    line.
    """

    status = 422
    code = "import_refused"
    title = "Import rejected"


class UnreadableText(ImportRefused):
    """Raised for a file that is too large, is not UTF-8, or contains a NUL character."""


def read_text_within(folder: Path, path: Path, name: str, most: int = MAX_FILE_CHARACTERS) -> str:
    """Return the text of a file in the folder, as `read_text` does. Raises ImportRefused also for a link out of the
    folder.
    """
    check_within(folder, path, name)
    return read_text(path, name, most)


def check_within(folder: Path, path: Path, name: str) -> None:
    """Raise ImportRefused for a link that leaves the folder."""
    try:
        inside = path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # circular links
        inside = False
    if not inside:
        raise ImportRefused(f"{name} is a link that leaves the folder; put the file itself there and import again.")


def read_text(path: Path, name: str, most: int = MAX_FILE_CHARACTERS) -> str:
    """Return the text of a file without invisible characters, of at most `most` characters.

    `name` is the file's name in messages. Raises UnreadableText, and ImportRefused for a file that cannot be read.
    """
    return decode_text(_read_bytes(path, name, most), name, most)


def decode_text(data: bytes, name: str, most: int = MAX_FILE_CHARACTERS) -> str:
    """Decode the bytes as text without invisible characters, of at most `most` characters. Raises UnreadableText."""
    try:
        text = data.decode().removeprefix(BYTE_ORDER_MARK)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        where = f"{name}, line {line}: the byte at offset {error.start}"
        raise UnreadableText(f"{where} is not UTF-8; save the file as UTF-8 and import it again.") from None
    if len(text) > most:
        raise _too_large_error(name, most)
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise UnreadableText(f"{name}, line {line} has a NUL character; remove it and import again.")
    return clean_text(text)


def _read_bytes(path: Path, name: str, most: int) -> bytes:
    try:
        # A folder cannot be read, and reading a pipe might wait forever.
        if path.exists() and not path.is_file():
            raise ImportRefused(f"{name} is not a file; move it away and import again.")
        if path.stat().st_size > most * MAX_BYTES_PER_CHARACTER + len(BYTE_ORDER_MARK.encode()):
            raise _too_large_error(name, most)
        return path.read_bytes()
    except OSError as error:
        reason = error.strerror or "unknown reason"
        raise ImportRefused(
            f"{name} cannot be read ({reason}); check that it exists and that you may read it."
        ) from None


def _too_large_error(name: str, most: int) -> UnreadableText:
    return UnreadableText(f"{name} has more than {most:,} characters; split it or shorten it and import again.")


def parse_levels(stored: Any, name: str) -> dict[str, int]:
    """Return the sensitivities of texts by their names, as the JSON file with this name has them.

    Raises ImportRefused for an unknown one.
    """
    own = stored.items() if isinstance(stored, dict) else ()
    if unknown := [within for within, word in own if not isinstance(word, str) or word not in LEVEL_WORDS]:
        known = ", ".join(LEVEL_WORDS)
        raise ImportRefused(f"{name}: the sensitivity of {unknown[0][:80]} is none of {known}. Correct it.")
    return {within: LEVEL_WORDS[word] for within, word in own}


def get_or_create_agent(slug: str) -> Agent:
    """Return the agent with that slug and all its files; create one with a readable name if necessary.

    Raises ImportRefused for an invalid slug.
    """
    _check_slug(slug)
    agent = Agent.objects.filter(slug=slug).first()
    if agent is None:
        return agent_create(slug=slug, name=readable_name(slug))
    agent_files_ensure(agent)
    return agent


def get_or_create_team(slug: str) -> Team:
    """Return the team with that slug and all its files; create one with a readable name if necessary.

    Raises ImportRefused for an invalid slug.
    """
    _check_slug(slug)
    team = Team.objects.filter(slug=slug).first()
    if team is None:
        return team_create(slug=slug, name=readable_name(slug))
    team_files_provision([team])
    return team


def readable_name(slug: str) -> str:
    """Return a name made of a slug: “customer-care” becomes “Customer Care”."""
    return " ".join(word.capitalize() for word in slug.split("-"))


def count_phrase(number: int, one: str, many: str) -> str:
    """Return a number with its noun, as in “1 memory” and “2,000 memories”."""
    return f"{number:,} {one if number == 1 else many}"


def names_phrase(names: Sequence[str]) -> str:
    """Return the first names of the list, and the number of the others, as in “a, b, c, d, e and 7 more”."""
    more = len(names) - MAX_NAMES_LISTED
    return ", ".join(names[:MAX_NAMES_LISTED]) + (f" and {more:,} more" if more > 0 else "")


def _check_slug(slug: str) -> None:
    try:
        valid_slug(slug)
    except ValidationError as error:
        raise ImportRefused(f"“{slug}” cannot be a slug: {error.message}") from None
    if len(slug) > MAX_SLUG_CHARACTERS:
        raise ImportRefused(f"“{slug}” is too long for a slug; use at most {MAX_SLUG_CHARACTERS} characters.")


def memories_store(*, owner: Owner, facts: Sequence[MemoryFacts], principal: Principal, advance: Advance) -> int:
    """Store the memories that the owner does not have yet, in batches that advance the progress. Return how many."""
    new = 0
    for start in range(0, len(facts), BATCH_ROWS):
        batch = facts[start : start + BATCH_ROWS]
        new += len(memories_create(owner=owner, facts=batch, principal=principal))
        advance(len(batch))
    return new


@contextmanager
def progress_bar(description: str, total: int) -> Iterator[Advance]:
    """Yield a function that advances a progress bar on standard error; without a terminal nothing is shown."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task(description, total=total)
        yield lambda steps: progress.advance(task, steps)
