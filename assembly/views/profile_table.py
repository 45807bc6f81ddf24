"""A profile in the words and shapes of its page. Pure: everything comes in as values."""

from dataclasses import asdict, dataclass
from typing import Any

from django.utils.translation import gettext

from assembly.engine.profile import MAX_PERCENT, Profile, Section
from assembly.sources import SOURCES


@dataclass(frozen=True, slots=True)
class SectionRow:
    """A section in the table of a profile. `most` are the tokens that it may take of the budget; None: what remains."""

    label: str
    layer: str
    source: str
    share: float | None
    most: int | None
    required: bool
    top_k: int | None
    is_dropped: bool
    ranker: str | None
    """The name of the ranker of passages of documents; None: there are none in it."""

    @property
    def tone(self) -> str:
        """The class by which a page colours its layer."""
        return self.layer.lower()


@dataclass(frozen=True, slots=True)
class WeightRow:
    """How much a score counts; `width` is out of a thousand."""

    label: str
    weight: float
    width: int


def table_of(profile: Profile) -> dict[str, Any]:
    """What the page of a profile shows of it."""
    shares = sum(section.share or 0 for section in profile.sections)
    return {
        "profile": profile,
        "rows": [_row(section, profile.budget) for section in profile.sections],
        "weights": _weights(profile),
        "shares": shares,
        "shares_over": shares > MAX_PERCENT,
        "without_room": _without_room(profile),
    }


def source_label(name: str) -> str:
    """A source as pages call it."""
    return SOURCES[name].label if name in SOURCES else name.replace("_", " ").capitalize()


def _row(section: Section, budget: int) -> SectionRow:
    return SectionRow(
        label=section.label,
        layer=section.layer,
        source=source_label(section.source),
        share=section.share,
        most=section.cap_within(budget),
        required=section.required,
        top_k=section.top_k,
        is_dropped=section.overflow == "drop",
        ranker=section.ranker_name,
    )


def _without_room(profile: Profile) -> list[str]:
    """What becomes of what has no room, step by step."""
    steps = {
        "drop": gettext("The weakest hits go first."),
        "compact": gettext(
            "Long memories are told by a passage that bears on the topic, and older turns are made shorter."
        ),
        "summarise": gettext("Long results, and then the weakest items, are summarised."),
    }
    cuts = {
        "anywhere": gettext("What is still too long is cut where the room ends."),
        "sentence": gettext("What is still too long is cut at the end of a sentence."),
        "paragraph": gettext("What is still too long is cut at the end of a paragraph."),
        "heading": gettext("What is still too long is cut before a heading."),
    }
    return [*(steps[step] for step in profile.over_budget), cuts[profile.cut_at], _of_the_rest(profile)]


def _of_the_rest(profile: Profile) -> str:
    """What becomes of what no step made room for."""
    turns = any(section.shape == "turns" for section in profile.sections)
    if not profile.fill:
        return gettext("All else is left out.")
    if "summarise" in profile.over_budget or ("compact" in profile.over_budget and turns):
        return gettext("All else is left out, and gets another chance, shorter, where a tenth of the room stays free.")
    return gettext("All else is left out, and gets another chance where a tenth of the room stays free.")


def _weights(profile: Profile) -> list[WeightRow]:
    labels = {
        "relevance": gettext("how near to the topic"),
        "recency": gettext("how recent"),
        "salience": gettext("how important"),
        "credibility": gettext("how trustworthy"),
        "coherence": gettext("how well it fits the rest"),
    }
    weights = asdict(profile.weights)
    most = max(weights.values()) or 1
    return [WeightRow(label, weights[name], round(1000 * weights[name] / most)) for name, label in labels.items()]
