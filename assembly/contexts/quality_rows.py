"""The summary of a context shows the measures of its quality as rows with a bar and a sentence."""

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from assembly.engine.quality import MAX_ENTITIES, ContextQuality, named_entities, source_coverage
from assembly.records.reader import StoredAssembly
from assembly.records.recorded_quality import context_quality, recorded_outcomes

BAR_WIDTH = 1_000
COHERENCE_GOAL = 0.8
"""The coherence_score that contexts should reach (seed "Memory Layer": service levels)."""


@dataclass(frozen=True, slots=True)
class QualityRow:
    """A measure: its name in the API, its label, its value (None: unknown), and what it says."""

    key: str
    label: str
    value: float | None
    sentence: str

    @property
    def width(self) -> int:
        """The width of the bar, of BAR_WIDTH."""
        return round(BAR_WIDTH * (self.value or 0.0))


def quality_rows(told: StoredAssembly, content: str) -> list[QualityRow]:
    """Return the measures of a context with this text."""
    outcomes = recorded_outcomes(told.inputs.profile.sections, told.assembly.sources, told.decisions)
    quality = context_quality(told.assembly, content, told.decisions, coverage=source_coverage(outcomes.values()))
    return [
        QualityRow(
            "quality_achieved",
            _("Relevance"),
            quality.quality_achieved,
            _("Mean relevance of what was found for the topic.")
            if quality.quality_achieved is not None
            else _("There was no topic to search for."),
        ),
        QualityRow("coherence_score", _("Coherence"), quality.coherence_score, _coherence_sentence(quality)),
        QualityRow("completeness", _("Completeness"), quality.completeness, _completeness_sentence(told)),
        QualityRow(
            "contradiction_rate",
            _("Contradictions"),
            quality.contradiction_rate,
            _("Share of the items that are in an unresolved conflict."),
        ),
        QualityRow(
            "source_coverage",
            _("Source coverage"),
            quality.source_coverage,
            _("Share of the scopes with candidates or failures of which an item is included."),
        ),
    ]


def _coherence_sentence(quality: ContextQuality) -> str:
    if quality.coherence_score is None:
        return _("Not known: no item could be compared with the topic or another item.")
    if quality.coherence_score < COHERENCE_GOAL:
        return _("How well the items fit the topic and each other. The goal is %(goal)s.") % {"goal": COHERENCE_GOAL}
    return _("How well the items fit the topic and each other.")


def _completeness_sentence(told: StoredAssembly) -> str:
    named = len(named_entities(told.assembly.request)[:MAX_ENTITIES])
    if not named:
        return _("The request names no entities.")
    return ngettext(
        "Whether the text contains the entity that the request names.",
        "Share of the %(n)s entities named by the request that the text contains.",
        named,
    ) % {"n": named}
