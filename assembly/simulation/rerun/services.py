"""A rerun assembles a recorded request from today's data, and explains each difference."""

from dataclasses import dataclass

from django.utils import timezone

from assembly.comparison.explain import ExplainedComparison, explain_changes
from assembly.comparison.interval import ComparisonInterval
from assembly.comparison.side_by_side import SideBySide, compared_from_record
from assembly.models import Assembly
from assembly.records.reader import load_record
from assembly.simulation.basis import ContextOwners, gather_basis, load_owners, request_of_record
from assembly.simulation.simulate import simulate


@dataclass(frozen=True, slots=True)
class RerunResult(ExplainedComparison):
    """The recorded context and the one of today, with the causes of each change."""

    assembly: Assembly
    owners: ContextOwners
    session_gone: bool
    """The request named a session that is not there any more: today's context is without it."""


def rerun_today(assembly: Assembly) -> RerunResult:
    """Assemble the recorded request for this moment. Nothing is recorded, no model is asked, no agent notices.

    Raises OwnerDeleted where the agent or its team was deleted, RecordDamaged, and what
    `assembly.pipeline.services.assemble` does: Invalid for a profile or a tokenizer that is not there any more, or a
    team in which the agent works no longer.
    """
    record = load_record(assembly)
    before, owners = compared_from_record(record), load_owners(assembly)
    basis = gather_basis(owners, request_of_record(record), timezone.now())
    beside = SideBySide.of(before, simulate(basis))
    changes = explain_changes(beside, ComparisonInterval(assembly))
    return RerunResult(beside, changes, assembly, owners, basis.session_gone)
