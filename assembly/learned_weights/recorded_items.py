"""What recorded contexts with feedback say: the measures of their items, and the recall of those that were used."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from uuid import UUID

import numpy as np

from assembly.engine.assemble import assemble
from assembly.engine.profile import Weights
from assembly.engine.tokenizers import get_tokenizer
from assembly.engine.types import Decision, EngineResult
from assembly.learned_weights.labelled_contexts import LabelledContext
from assembly.learned_weights.weight_fitting import MEASURES, ItemList
from assembly.models import Assembly
from assembly.models.assembly import Purpose
from assembly.profiles.request_overrides import sets_weights
from assembly.records.reader import DAMAGE_ERRORS, StoredAssembly, load_record
from assembly.records.record_errors import RecordDamaged

HELD_OUT_ONE_IN = 5
"""One context in so many is not trained on; its id, which ends in random bits, decides."""
RECALL_SHARE = 0.25
"""The share of a context's tokens that are the budget at which the recall of its used items is measured.

All used items were included, so at the recorded budget their recall is 1 with the weights of that time, and can only
fall with others. In less room the weights must choose.
"""


@dataclass(frozen=True, slots=True)
class LabelledRecord:
    """A parsed record, with the feedback on its context."""

    record: StoredAssembly
    feedback: LabelledContext

    @property
    def origin(self) -> UUID:
        """The id of the context that this one repeats, or its own."""
        return _origin(self.record.assembly)

    @property
    def is_held_out(self) -> bool:
        """Whether the context is not trained on."""
        return is_held_out(self.record.assembly)

    @property
    def used(self) -> frozenset[str]:
        """The refs of the used items among the blocks that were included."""
        return frozenset(one.ref for one in included_blocks(self.record) if self.feedback.uses(one.ref))

    @property
    def items(self) -> ItemList:
        """The blocks that were included, as the fit takes them."""
        included = included_blocks(self.record)
        measures = [[dict(one.signals).get(name, 0.0) for name in MEASURES] for one in included]
        used = tuple(self.feedback.uses(one.ref) for one in included)
        return ItemList(np.array(measures, dtype=float).reshape(len(included), len(MEASURES)), used)


def is_held_out(assembly: Assembly) -> bool:
    """Return whether the context is not trained on; a context that repeats another one goes where that one goes."""
    return _origin(assembly).int % HELD_OUT_ONE_IN == 0


def _origin(assembly: Assembly) -> UUID:
    return assembly.decided_in or assembly.id


def included_blocks(record: StoredAssembly) -> list[Decision]:
    """Return the decisions on blocks that competed by their priority and were included."""
    blocks = {section.key for section in record.inputs.profile.sections if section.shape == "blocks"}
    return [one for one in record.decisions if one.section in blocks and one.included and one.score is not None]


def labelled_records(
    contexts: Iterable[LabelledContext], wanted: Callable[[Assembly], bool] = lambda _: True
) -> Iterator[LabelledRecord]:
    """Yield the records of the wanted contexts that have used blocks, the newest first.

    Records that cannot be read are skipped, and so are those whose request set weights of its own.
    """
    by_id = {context.assembly_id: context for context in contexts}
    found = Assembly.objects.filter(id__in=list(by_id)).order_by("-created", "-id")
    for assembly in filter(wanted, found.iterator(chunk_size=50)):
        try:
            if has_own_weights(assembly):
                continue
            labelled = LabelledRecord(load_record(assembly), by_id[assembly.id])
        except (RecordDamaged, *DAMAGE_ERRORS):
            continue
        if labelled.used:
            yield labelled


def held_out_records(contexts: Iterable[LabelledContext]) -> Iterator[LabelledRecord]:
    """Yield the records of contexts for agents that are not trained on, the newest first; of those that repeat one
    another, only one.
    """
    seen = set[UUID]()
    for labelled in labelled_records(contexts, lambda one: is_held_out(one) and one.effective_purpose == Purpose.AGENT):
        if labelled.origin not in seen:
            seen.add(labelled.origin)
            yield labelled


def has_own_weights(assembly: Assembly) -> bool:
    """Return whether the request set weights itself, or by its domain; learned weights never replace these."""
    return sets_weights(assembly.request.get("strategy") or {})


def assembled_with(record: StoredAssembly, weights: Weights, budget: int | None = None) -> EngineResult:
    """Return the engine's result for the recorded candidates with other weights and, if one is given, another budget.

    No model is called: where a summary would be written, the beginning of the text is used.
    """
    request = record.inputs.request if budget is None else replace(record.inputs.request, budget=budget)
    profile = replace(record.inputs.profile, weights=weights)
    return assemble(request, profile, record.inputs.candidates, get_tokenizer(request.tokenizer))


def used_recall(labelled: LabelledRecord, weights: Weights) -> float:
    """Return the share of the used items, 0 to 1, that fit in RECALL_SHARE of the context's tokens."""
    budget = int(labelled.record.tokens * RECALL_SHARE)
    decisions = assembled_with(labelled.record, weights, budget).decisions
    included = {one.ref for one in decisions if one.included}
    return len(labelled.used & included) / len(labelled.used)


def mean_recalls(labelled: Sequence[LabelledRecord], before: Weights, after: Weights) -> tuple[float, float] | None:
    """Return the mean recall of the contexts' used items with both weights; None without contexts."""
    if not labelled:
        return None
    return (fmean(used_recall(one, before) for one in labelled), fmean(used_recall(one, after) for one in labelled))
