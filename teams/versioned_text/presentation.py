"""A versioned text as its pages show it, for every kind of owner."""

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest
from django.utils.translation import gettext as _

from teams.access import principal_of
from teams.guidance import Guidance, Text
from teams.versioned_text.publication import check_publication
from teams.versioned_text.versioned_file import VersionedFile

SaveText = Callable[[str, int, str], VersionedFile]
"""A function that stores a text made from a version, with a note, and returns it as stored. Raises StaleVersion."""


@dataclass(frozen=True, slots=True)
class Crumb:
    """A link of the breadcrumbs of a page."""

    label: Text
    address: str


@dataclass(frozen=True, slots=True)
class TextPage:
    """A versioned text as its pages show it. `heading` names the text and its owner; `key` is its
    section of a context.
    """

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
    settings_address: str = ""
    """The address of the page that changes more than the text; empty if there is none for the person."""

    @property
    def exists(self) -> bool:
        """Whether the text was saved at least once."""
        return not self.file._state.adding  # noqa: SLF001 - Django's documented way to ask

    @property
    def crumbs_to_file(self) -> tuple[Crumb, ...]:
        """The steps to a page about the text, such as its history: the last step is the text itself."""
        address = self.edit_address if self.may_edit else self.current_address
        return (*self.crumbs, Crumb(self.guidance.name, address))

    @property
    def current_address(self) -> str:
        return f"{self.history_address}{self.file.version}/"


def save_as_person(request: HttpRequest, save: Callable[..., VersionedFile], file: VersionedFile) -> SaveText:
    """Return a function with which the signed-in person saves this file.

    `save` is `teams.versioned_text.versioned_file.file_save`, or takes the same arguments. The function raises
    PublicationRefused, too.
    """
    principal = principal_of(request)

    def save_checked(content: str, expected: int, note: str) -> VersionedFile:
        check_publication(principal, file, content)
        return save(file=file, content=content, expected_version=expected, author=principal.author, note=note)

    return save_checked


def add_save_message(request: HttpRequest, version: int, based_on: int, success: str = "") -> None:
    """Show a message on whether saving created a new version; `success` is its text if one was created."""
    if version == based_on:
        add_unchanged_message(request)
    else:
        messages.success(request, (success or _("Saved as version %(version)s.")) % {"version": version})


def add_unchanged_message(request: HttpRequest) -> None:
    """Show a message that the text equals the stored one."""
    messages.info(request, _("No changes, so there is no new version."))
