"""Which two states of a text a page is to compare: what `from` and `to` in its address name."""

import datetime
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _

from config.http.errors import DossierError
from teams.access import principal_of
from teams.versioned_text.drafts import Draft, draft_of
from teams.versioned_text.presentation import TextPage
from teams.versioned_text.versioned_file import Signed

DRAFT = "draft"


class NothingToCompare(DossierError):
    """The address names no two different states of the text. The message says so to a person."""

    status = 422
    code = "nothing_to_compare"
    title = "There is nothing to compare"


class NoSuchState(NothingToCompare):
    status = 404


@dataclass(frozen=True, slots=True)
class ComparedText:
    """One of the two texts. `number` is None for a draft; `signed` says whose version it is."""

    number: int | None
    content: str
    at: datetime.datetime
    signed: Signed | None = None

    @property
    def name(self) -> str:
        """How an address names it."""
        return DRAFT if self.number is None else str(self.number)


@dataclass(frozen=True, slots=True)
class VersionPair:
    """The earlier text and the later one. `swapped` says that they were named the other way around."""

    old: ComparedText
    new: ComparedText
    swapped: bool = False


def find_version_pair(request: HttpRequest, document: TextPage) -> VersionPair:
    """What the address names; where it names nothing, the newest version, and the one before it.

    Raises NothingToCompare.
    """
    draft = draft_of(principal_of(request).id, document.file.about)
    old, new = _requested_names(request, document, draft)
    if old == new:
        raise NothingToCompare(_same_text_message(document, old))
    found = {
        row.version: to_compared_text(row) for row in document.file.versions.filter(version__in={old, new} - {DRAFT})
    }
    first, second = _find_text(old, found, draft), _find_text(new, found, draft)
    if new != DRAFT and (old == DRAFT or int(old) > int(new)):
        return VersionPair(second, first, swapped=True)
    return VersionPair(first, second)


def to_compared_text(version: Any) -> ComparedText:
    """A version as a side. The row of the text itself stands for its newest one."""
    at = version.created if hasattr(version, "sha256") else version.updated_at
    return ComparedText(version.version, version.content, at, version)


def _requested_names(request: HttpRequest, document: TextPage, draft: Draft | None) -> tuple[str, str]:
    """The names of both sides, with what was left out filled in."""
    newest = document.file.version
    old, new = (request.GET.get(name, "").strip() for name in ("from", "to"))
    new = new or str(newest)
    if not old or old == "0":
        before = draft.based_on if draft and new == DRAFT else 0
        old = str(before or (newest if new == DRAFT else _parse_number(new) - 1))
    if old == "0":
        raise NothingToCompare(_("Version 1 is the first, so there is nothing before it to compare it with."))
    return tuple(name if name == DRAFT else str(_parse_number(name)) for name in (old, new))  # type: ignore[return-value]


def _parse_number(name: str) -> int:
    """The number of a version. Raises NoSuchState for what is none."""
    if not (name.isascii() and name.isdigit() and len(name) <= len(str(2**31)) and int(name) < 2**31):
        raise NoSuchState(_("“%(name)s” is no version. Choose two versions by their numbers.") % {"name": name[:40]})
    return int(name)


def _find_text(name: str, found: dict[int, ComparedText], draft: Draft | None) -> ComparedText:
    if name == DRAFT:
        if draft is None:
            raise NoSuchState(_("You have no draft of this text, so there is nothing of yours to compare."))
        return ComparedText(None, draft.content, draft.updated_at)
    if int(name) not in found:
        raise NoSuchState(_("There is no version %(name)s of this text. Choose another.") % {"name": name})
    return found[int(name)]


def _same_text_message(document: TextPage, name: str) -> str:
    if document.file.version == 1:
        return _("There is one version only so far. Once there is a second, you can see here what changed.")
    if name == DRAFT:
        return _("This is one and the same draft. Choose a version to compare it with.")
    return _("This is one and the same version, %(name)s. Choose two different ones.") % {"name": name}
