"""The cards of files, the same on the pages of agents and teams."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from config.pages.room import Room, room_of
from teams.drafts import Draft, drafts_of
from teams.guidance import Guidance
from teams.principal import Principal


@dataclass(frozen=True, slots=True)
class FileCard:
    """A file as its owner's page shows it, with the draft that the person has of it."""

    file: Any
    guidance: Guidance
    room: Room
    draft: Draft | None
    edit_address: str
    read_address: str
    history_address: str


def file_cards(
    principal: Principal, files: Iterable[Any], guidance: Mapping[str, Guidance], route: str, slug: str
) -> list[FileCard]:
    """One card per kind of file, in the order in which the guidance has them."""
    by_key = {file.file_key: file for file in files}
    own = drafts_of(principal.id).filter(about__in=[file.about for file in by_key.values()]).defer("content")
    drafts = {draft.about: draft for draft in own}
    return [
        _card(file, words, route, slug, drafts.get(file.about))
        for file, words in ((by_key[key], words) for key, words in guidance.items() if key in by_key)
    ]


def _card(file: Any, words: Guidance, route: str, slug: str, draft: Draft | None) -> FileCard:
    return FileCard(
        file=file,
        guidance=words,
        room=room_of(file.file_key, file.content),
        draft=draft,
        edit_address=reverse(route, args=[slug, file.file_key]),
        read_address=reverse(f"{route}_version", args=[slug, file.file_key, file.version]),
        history_address=reverse(f"{route}_history", args=[slug, file.file_key]),
    )
