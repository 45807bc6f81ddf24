"""The cards of files, the same on the pages of agents and teams."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from teams.guidance import Guidance


@dataclass(frozen=True, slots=True)
class FileCard:
    """A file as its owner's page shows it."""

    file: Any
    guidance: Guidance
    words: int
    characters: int
    edit_address: str
    read_address: str


def file_cards(files: Iterable[Any], guidance: Mapping[str, Guidance], route: str, slug: str) -> list[FileCard]:
    """One card per kind of file, in the order in which the guidance has them."""
    by_key = {file.file_key: file for file in files}
    return [_card(by_key[key], words, route, slug) for key, words in guidance.items() if key in by_key]


def _card(file: Any, words: Guidance, route: str, slug: str) -> FileCard:
    return FileCard(
        file=file,
        guidance=words,
        words=len(file.content.split()),
        characters=len(file.content),
        edit_address=reverse(route, args=[slug, file.file_key]),
        read_address=reverse(f"{route}_version", args=[slug, file.file_key, file.version]),
    )
