"""The registry entry of external sources makes them known to profiles, rules and pages; they are queried elsewhere."""

from collections.abc import Sequence

from assembly.engine.profile import Section
from assembly.engine.types import InvalidAssembly
from assembly.sources.base import GatherContext, SourceResult


def external_results(gather_context: GatherContext, sections: Sequence[Section]) -> SourceResult:  # noqa: ARG001 - as all sources
    """Raise InvalidAssembly: `pending` queries external sources, in parallel with the database."""
    raise InvalidAssembly("External sources are remote: ask_all() of assembly.external asks them.")
