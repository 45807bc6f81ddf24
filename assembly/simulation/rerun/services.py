"""A rerun assembles a recorded request from today's data, and explains each difference."""

import datetime
from dataclasses import dataclass

from django.utils import timezone

from assembly.comparison.causes import Cause
from assembly.comparison.explain import ExplainedChanges, edits_of, explain_changes
from assembly.comparison.interval import interval_until_now
from assembly.comparison.side_by_side import SideBySide, compared_from_record
from assembly.models import Assembly
from assembly.records.reader import load_record
from assembly.simulation.basis import ContextOwners, gather_basis, load_owners, request_of_record
from assembly.simulation.simulate import simulate


@dataclass(frozen=True, slots=True)
class RerunResult:
    """The context then and today. `changes` are those of the comparison, each with its causes."""

    assembly: Assembly
    owners: ContextOwners
    now: datetime.datetime
    beside: SideBySide
    changes: tuple[ExplainedChanges, ...]
    session_gone: bool
    """The request named a session that is not there any more: today's context is without it."""

    @property
    def causes(self) -> tuple[Cause, ...]:
        """What was changed since, each once."""
        return edits_of(self.changes)


def rerun_today(assembly: Assembly) -> RerunResult:
    """Assemble the recorded request for this moment. Nothing is recorded, no model is asked, no agent notices.

    Raises OwnerDeleted where the agent or its team was deleted, RecordDamaged, and what
    `assembly.pipeline.services.assemble` does: Invalid for a profile or a tokenizer that is not there any more, or a
    team in which the agent works no longer.
    """
    record, now = load_record(assembly), timezone.now()
    before, owners = compared_from_record(record), load_owners(assembly)
    basis = gather_basis(owners, request_of_record(record), now)
    beside = SideBySide.of(before, simulate(basis))
    changes = explain_changes(beside, interval_until_now(assembly))
    return RerunResult(assembly, owners, now, beside, changes, basis.session_gone)
