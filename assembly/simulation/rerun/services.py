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
    """The session of the request does not exist any more, so today's context is assembled without it."""


def rerun_today(assembly: Assembly) -> RerunResult:
    """Return the recorded context and the one that the same request gets now. Nothing is recorded, no model is called.

    Raises OwnerDeleted if the agent or its team was deleted, RecordDamaged, and what
    `assembly.pipeline.services.assemble` raises: Invalid for a profile or a tokenizer that does not exist any more, or
    for a team in which the agent does not work any more.
    """
    record = load_record(assembly)
    before, owners = compared_from_record(record), load_owners(assembly)
    basis = gather_basis(owners, request_of_record(record), timezone.now())
    beside = SideBySide.of(before, simulate(basis))
    changes = explain_changes(beside, ComparisonInterval(assembly))
    return RerunResult(beside, changes, assembly, owners, basis.session_gone)
