"""A simulated context has no record that could count as read, so the items that it shows count by themselves."""

from collections.abc import Iterable
from uuid import UUID

from assembly.engine.refs import Ref
from assembly.engine.types import Candidate
from assembly.sources.kinds import KINDS
from teams.readings.collector import Thing, kind_of, note_read
from teams.sensitivity import DEFAULT_LEVEL


def note_candidates(candidates: Iterable[Candidate]) -> None:
    """Note for the log of readings that the current request shows these items, as far as they are confidential.

    What an external source returned is nothing that is stored, and is not noted.
    """
    for candidate in candidates:
        ref = Ref.parse(candidate.ref)
        if candidate.sensitivity > DEFAULT_LEVEL and ref.kind in KINDS:
            model = KINDS[ref.kind].model
            note_read(Thing(kind_of(model), UUID(ref.id), candidate.sensitivity, frozenset(), owner_model=model))
