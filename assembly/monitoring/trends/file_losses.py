"""Files that a context truncated, or excluded for lack of budget, are stored with the number of missing tokens.

Passages of files are no losses: a context has the ones that matter for its topic.
"""

from collections.abc import Iterator, Sequence

from assembly.engine.codes import Code
from assembly.engine.refs import Ref
from assembly.engine.types import Decision
from assembly.models import Assembly, FileLoss
from assembly.records.reader import StoredAssembly
from assembly.sources.kinds import FILES

FILE_PREFIXES = tuple(f"{name}:" for name in sorted(FILES))
"""The prefixes of the refs of files and their passages."""
LACK_OF_BUDGET = frozenset({Code.OVER_SECTION_BUDGET, Code.OVER_TOTAL_BUDGET})


def is_whole_file(ref: str) -> bool:
    """Return whether the ref is of a whole file, not of a passage of one."""
    return ref.startswith(FILE_PREFIXES) and not Ref.parse(ref).part


def lost_files(told: StoredAssembly) -> Iterator[Decision]:
    """Yield the decisions on whole files that were truncated, or excluded for lack of budget."""
    for decision in told.decisions:
        is_lost = decision.code == Code.TRUNCATED or decision.code in LACK_OF_BUDGET
        if is_lost and is_whole_file(decision.ref):
            yield decision


def file_losses_of(assembly: Assembly, told: StoredAssembly) -> list[FileLoss]:
    """Return the rows for a context; `told` is its record, or that of the context that it repeats."""
    rows: dict[str, FileLoss] = {}
    for decision in lost_files(told):
        ref = Ref.parse(decision.ref)
        rows[ref.item] = FileLoss(
            assembly_id=assembly.id,
            created=assembly.created,
            agent_id=assembly.agent_id,
            team_id=assembly.team_id,
            ref=ref.item,
            version=ref.number or 0,
            is_excluded=not decision.included,
            tokens_lost=max(0, decision.tokens_full - decision.tokens),
        )
    return list(rows.values())


def file_losses_store(rows: Sequence[FileLoss]) -> None:
    """Store the rows with one statement; rows that exist already are not changed."""
    if rows:
        FileLoss.objects.bulk_create(rows, ignore_conflicts=True)
