"""Versioned texts in an archive: how each stands to the one that is here, and taking it over."""

from collections.abc import Callable, Mapping

from django.db import IntegrityError, transaction

from config.http.cpu_budget import TooCostly, TookTooLong
from config.http.errors import DossierError
from memories.bundle.marks import State, mark_of, state_of
from memories.bundle.rooms import Change, Left, Unit
from memories.importing import BYTE_ORDER_MARK, Advance, NoText
from teams.files import VersionedFile


def text_change(unit: Unit, within: str, what: str, here: VersionedFile | None, exported: str) -> Change:
    """What importing that text would do. `exported` is its mark, "" where there is none."""
    name = unit.path(within)
    version = here.version if here else 0
    try:
        after = unit.contents.text(unit.files[within])
    except NoText as fault:
        return Change(name=name, what=what, state=State.REFUSED, version=version, reason=fault.detail)
    if exported == mark_of(BYTE_ORDER_MARK + after):
        after = BYTE_ORDER_MARK + after  # it was exported so; no editor added it
    mark = mark_of(here.content) if here else None
    state = state_of(exported=exported, incoming=mark_of(after), here=mark)
    return Change(name=name, what=what, state=state, version=version, before=here.content if here else "", after=after)


def refused(change: Change, reason: str) -> Change:
    """The same change, refused for that reason; what would change nothing stays as it is."""
    if change.state in {State.SAME, State.REFUSED}:
        return change
    return Change(name=change.name, what=change.what, state=State.REFUSED, version=change.version, reason=reason)


def attempted(changes: Mapping[str, Callable[[], object]], advance: Advance = bool) -> list[Left]:
    """Do what stands by each name, one by one; what fails leaves the others as they are. Returns what failed."""
    left = []
    for name, do in changes.items():
        try:
            with transaction.atomic():
                do()
        except (TooCostly, TookTooLong):
            raise  # all that follows would end so, too
        except DossierError as error:
            left.append(Left(name, error.detail))
        except IntegrityError:
            left.append(Left(name, "It does not fit to what is here. Look at both and correct it by hand."))
        advance(1)
    return left
