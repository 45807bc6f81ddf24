"""A page that compares two versions finds them by `from` and `to` in its query string."""

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
    """The query string does not name two different versions. The message explains it to a person."""

    status = 422
    code = "nothing_to_compare"
    title = "There is nothing to compare"


class NoSuchState(NothingToCompare):
    status = 404


class NoDraft(NothingToCompare):
    """The query string names the person's draft, and there is none (any more)."""

    status = 404


@dataclass(frozen=True, slots=True)
class ComparedText:
    """One of two compared texts. `number` is None for a draft; `signed` has the author of a version."""

    number: int | None
    content: str
    at: datetime.datetime
    signed: Signed | None = None

    @property
    def name(self) -> str:
        """The name of the text in a query string."""
        return DRAFT if self.number is None else str(self.number)


@dataclass(frozen=True, slots=True)
class VersionPair:
    """An earlier and a later text. `swapped` says that the query string named the later one first."""

    old: ComparedText
    new: ComparedText
    swapped: bool = False


def find_version_pair(request: HttpRequest, document: TextPage) -> VersionPair:
    """Return the two texts that the query string names; by default, the newest version and the previous one.

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
    """Return a version as one of two compared texts. The current row of a text stands for its newest version."""
    at = version.created if hasattr(version, "sha256") else version.updated_at
    return ComparedText(version.version, version.content, at, version)


def _requested_names(request: HttpRequest, document: TextPage, draft: Draft | None) -> tuple[str, str]:
    """Return the names of both texts, with missing ones filled in."""
    newest = document.file.version
    old, new = (request.GET.get(name, "").strip() for name in ("from", "to"))
    new = new or str(newest)
    if not old or old == "0":
        before = draft.based_on if draft and new == DRAFT else 0
        old = str(before or (newest if new == DRAFT else _parse_number(new) - 1))
    if old == "0":
        raise NothingToCompare(_("Version 1 is the first version, so there is nothing to compare it with."))
    return tuple(name if name == DRAFT else str(_parse_number(name)) for name in (old, new))  # type: ignore[return-value]


def _parse_number(name: str) -> int:
    """Return the number of a version. Raises NoSuchState if it is no number."""
    if not (name.isascii() and name.isdigit() and len(name) <= len(str(2**31)) and int(name) < 2**31):
        raise NoSuchState(_("“%(name)s” is not a version. Choose two versions by their numbers.") % {"name": name[:40]})
    return int(name)


def _find_text(name: str, found: dict[int, ComparedText], draft: Draft | None) -> ComparedText:
    if name == DRAFT:
        if draft is None:
            raise NoDraft(_("You have no draft to compare."))
        return ComparedText(None, draft.content, draft.updated_at)
    if int(name) not in found:
        raise NoSuchState(_("There is no version %(name)s of this text. Choose another.") % {"name": name})
    return found[int(name)]


def _same_text_message(document: TextPage, name: str) -> str:
    if document.file.version == 1:
        return _("There is only one version. You can compare versions when there is a second one.")
    if name == DRAFT:
        return _("You selected your draft twice. Choose a version to compare it with.")
    return _("You selected version %(name)s twice. Choose two different ones.") % {"name": name}
