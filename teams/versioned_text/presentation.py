"""A versioned text as its pages show it, whoever owns it."""

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest
from django.utils.translation import gettext as _

from teams.access import principal_of
from teams.guidance import Guidance, Text
from teams.versioned_text.versioned_file import VersionedFile

SaveText = Callable[[str, int, str], VersionedFile]
"""Stores a text made from a version, with a note; returns the text as stored. Raises StaleVersion."""


@dataclass(frozen=True, slots=True)
class Crumb:
    """A step on the way to a page."""

    label: Text
    address: str


@dataclass(frozen=True, slots=True)
class TextPage:
    """A versioned text as its pages show it. `heading` says of whom it is; `key` names its section of a context."""

    file: VersionedFile
    guidance: Guidance
    key: str
    heading: Text
    crumbs: tuple[Crumb, ...]
    readers: Text
    edit_address: str
    history_address: str
    may_edit: bool
    is_markdown: bool = True

    @property
    def exists(self) -> bool:
        """Whether it was ever saved."""
        return not self.file._state.adding  # noqa: SLF001 - Django's documented way to ask

    @property
    def current_address(self) -> str:
        return f"{self.history_address}{self.file.version}/"


def save_as_person(request: HttpRequest, save: Callable[..., VersionedFile], file: VersionedFile) -> SaveText:
    """How the signed-in person saves this file, by `teams.versioned_text.versioned_file.file_save` or what takes the
    same arguments.
    """
    author = principal_of(request).author
    return lambda content, expected, note: save(
        file=file, content=content, expected_version=expected, author=author, note=note
    )


def add_save_message(request: HttpRequest, version: int, based_on: int, success: str = "") -> None:
    """Say to the person whether saving made a new version, in the words of `success` where it is given."""
    if version == based_on:
        add_unchanged_message(request)
    else:
        messages.success(request, (success or _("Saved as version %(version)s.")) % {"version": version})


def add_unchanged_message(request: HttpRequest) -> None:
    """Say to the person that the text is the one that is stored already."""
    messages.info(request, _("Nothing had changed, so there is no new version."))
