"""A profile as its page shows it, and the guidance beside its editor. Pure."""

from dataclasses import asdict, dataclass
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from assembly.engine.profile import MAX_PERCENT, Profile, Section
from assembly.profiles.catalogue import known_sources
from assembly.profiles.parser import FILE_KEYS, SOURCE_SHAPES
from assembly.sources import SOURCES
from teams.guidance import Guidance


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


def profile_table(profile: Profile) -> dict[str, Any]:
    """What the page of a profile shows of it."""
    shares = sum(section.share or 0 for section in profile.sections)
    return {
        "profile": profile,
        "rows": [_section_row(section, profile.budget) for section in profile.sections],
        "weights": _weight_rows(profile),
        "shares": shares,
        "shares_over": shares > MAX_PERCENT,
        "without_room": _overflow_steps(profile),
    }


def source_label(name: str) -> str:
    """A source as pages call it."""
    return SOURCES[name].label if name in SOURCES else name.replace("_", " ").capitalize()


def _section_row(section: Section, budget: int) -> SectionRow:
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


def _overflow_steps(profile: Profile) -> list[str]:
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
    return [*(steps[step] for step in profile.over_budget), cuts[profile.cut_at], _remainder_sentence(profile)]


def _remainder_sentence(profile: Profile) -> str:
    """What becomes of what no step made room for."""
    turns = any(section.shape == "turns" for section in profile.sections)
    if not profile.fill:
        return gettext("All else is left out.")
    if "summarise" in profile.over_budget or ("compact" in profile.over_budget and turns):
        return gettext("All else is left out, and gets another chance, shorter, where a tenth of the room stays free.")
    return gettext("All else is left out, and gets another chance where a tenth of the room stays free.")


def _weight_rows(profile: Profile) -> list[WeightRow]:
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


PROFILE_GUIDANCE = Guidance(
    name=_("Profile"),
    purpose=_("what a context is made of"),
    question=_("How a profile is written"),
    advice=(
        _("One section per heading of the context, in the order in which the agent is to read them."),
        _("Required sections stand first and are never cut; recent turns stand last."),
        _("A section takes at most its cap in tokens, and at most its share in percent of the budget."),
        _("Sections in blocks stand together: their items compete by the weights."),
        _(
            "What has no room: over_budget names the steps that are taken, drop, compact and summarise, in this order; "
            "cut_at says where a text that is still too long ends: anywhere, sentence, paragraph or heading."
        ),
        _(
            "Passages of documents rank by the ranker that their section names: default, similarity, words or seed, "
            "which is the one without a line; memories by the one that the profile names."
        ),
        _("With fill: true, what was left out gets another chance where a tenth of the room stays free."),
        _("Say in a comment, after #, why a number is what it is."),
    ),
    example=(
        "- key: patterns\n"
        "  heading: Applicable Patterns\n"
        "  layer: L6\n"
        "  source: patterns\n"
        "  shape: blocks\n"
        "  share: 5        # percent of the budget\n"
        "  cap: 900        # tokens\n"
        "  top_k: 5        # the best five have a chance\n"
        "  overflow: drop  # or cut: the best is cut to fit"
    ),
)


@dataclass(frozen=True, slots=True)
class OfferedSource:
    """A source that a section may name, the shapes that suit it, and the keys that it asks for (none: any)."""

    name: str
    label: str
    shapes: tuple[str, ...]
    keys: tuple[str, ...]


def offered_sources() -> list[OfferedSource]:
    """The sources, in the order in which they are registered."""
    return [
        OfferedSource(name, source_label(name), SOURCE_SHAPES.get(name, ("blocks",)), FILE_KEYS.get(name, ()))
        for name in known_sources()
    ]
