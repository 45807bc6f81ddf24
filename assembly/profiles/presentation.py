"""This module formats a profile for its page, and the help beside its editor. It has no side effects."""

from dataclasses import asdict, dataclass
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from assembly.engine.profile import MAX_PERCENT, Profile, Section
from assembly.engine.scopes import SCOPE_LAYERS, SCOPES
from assembly.profiles.catalogue import known_sources
from assembly.profiles.parser import FILE_KEYS, SOURCE_SHAPES
from assembly.sources import SOURCES
from teams.guidance import Guidance


@dataclass(frozen=True, slots=True)
class SectionRow:
    """A section in the table of a profile. `most` is its limit in tokens; None: what remains of the budget."""

    label: str
    layer: str
    source: str
    share: float | None
    most: int | None
    required: bool
    top_k: int | None
    is_dropped: bool
    ranker: str | None
    """The name of the ranker of document passages; None if the section has none."""
    relevance_floor: float
    least_origin: str
    """Which origins the section takes, in words; empty if it takes all."""

    @property
    def tone(self) -> str:
        """The CSS class of the colour of the section's layer."""
        return self.layer.lower()


@dataclass(frozen=True, slots=True)
class ScopeRow:
    """A row has the numbers of a memory scope: items at most, days of a half-life, 0 to 1. None: there is none."""

    name: str
    layer: str
    limit: int | None
    half_life: float | None
    credibility: float | None


@dataclass(frozen=True, slots=True)
class WeightRow:
    """The weight of a score; `width` is in thousandths of the widest bar."""

    label: str
    weight: float
    width: int


def profile_table(profile: Profile) -> dict[str, Any]:
    """Return what the page of a profile shows."""
    shares = sum(section.share or 0 for section in profile.sections)
    return {
        "profile": profile,
        "rows": [_section_row(section, profile.budget) for section in profile.sections],
        "weights": _weight_rows(profile),
        "shares": shares,
        "shares_over": shares > MAX_PERCENT,
        "without_room": _overflow_steps(profile),
        "scopes": _scope_rows(profile),
        "form": _form_sentences(profile),
    }


def source_label(name: str) -> str:
    """Return the name of a source on pages."""
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
        relevance_floor=section.relevance_floor,
        least_origin=_origin_words(section),
    )


def _origin_words(section: Section) -> str:
    words = {
        "person": gettext("only texts by people"),
        "agent": gettext("only texts by people and agents"),
        "tool": gettext("no texts from outside of the organisation"),
        "external": gettext("no texts of unknown origin"),
    }
    return words[section.least_origin] if section.least_origin else ""


def _scope_rows(profile: Profile) -> list[ScopeRow]:
    """Return a row for each memory scope, in the order of precedence; none if the profile has no numbers for scopes."""
    if not (profile.scope_limits or profile.half_life or profile.credibility):
        return []
    return [
        ScopeRow(
            name=scope,
            layer=SCOPE_LAYERS[scope],
            limit=profile.scope_limits.get(scope),
            half_life=profile.half_life.get(scope),
            credibility=profile.credibility.get(scope),
        )
        for scope in SCOPES
    ]


def _form_sentences(profile: Profile) -> list[str]:
    """Return how the text of a context is delimited, marked and completed, as sentences."""
    sentences = [
        gettext("Sections stand between tags.")
        if profile.delimit == "tags"
        else gettext("Sections begin with a heading."),
        gettext("The mark of a truncated text names where the rest is.")
        if profile.cut_mark == "source"
        else gettext("The mark of a truncated text is … [truncated]."),
    ]
    if profile.deduplicate:
        sentences.append(gettext("Equal texts are included once, whatever their source."))
    if profile.report_failures:
        sentences.append(gettext("A line at the end names the sources that failed or were late."))
    if profile.privacy_mode != "off":
        sentences.append(gettext("Placeholders stand for personal data, as [e-mail 1]."))
    if profile.privacy_mode == "strict":
        sentences.append(gettext("Nothing above internal is told, whatever the clearance."))
    return [*sentences, *_conflict_sentences(profile)]


def _conflict_sentences(profile: Profile) -> list[str]:
    """Return what becomes of texts that contradict each other, as sentences; none if the profile does not check."""
    sentences = {
        "mark": gettext("Of texts that contradict each other, the more trusted one is included, marked as disputed."),
        "withhold": gettext("Texts that contradict each other are excluded until a person decides."),
        "tell": gettext("Texts that contradict each other are included, marked as disputed."),
        "warn": gettext("Texts that contradict each other are included, and the context has a warning."),
    }
    return [sentences[profile.conflicts]] if profile.conflicts in sentences else []


def _overflow_steps(profile: Profile) -> list[str]:
    """Return the steps for items over the limit, as sentences."""
    steps = {
        "drop": gettext("Items with the lowest scores are excluded first."),
        "compact": gettext("Long memories are reduced to a relevant passage, and older turns are shortened."),
        "summarise": gettext("Long results, then items with the lowest scores, are summarised."),
    }
    cuts = {
        "anywhere": gettext("Texts that are still too long are truncated."),
        "sentence": gettext("Texts that are still too long are truncated at the end of a sentence."),
        "paragraph": gettext("Texts that are still too long are truncated at the end of a paragraph."),
        "heading": gettext("Texts that are still too long are truncated before a heading."),
    }
    return [
        *(steps[step] for step in profile.over_budget),
        *_level_sentences(profile),
        cuts[profile.cut_at],
        _remainder_sentence(profile),
    ]


def _level_sentences(profile: Profile) -> list[str]:
    """Return at which level of detail blocks are included, as sentences; none if the profile has no levels."""
    sentences = {
        "adaptive": gettext("Blocks are included in their shortest form, the best ones first."),
        "macro": gettext("Blocks are included as what they are about (macro)."),
        "micro": gettext("Blocks are included as their most telling sentences (micro)."),
        "atomic": gettext("Blocks are included whole (atomic)."),
    }
    if not profile.lod:
        return []
    more = [gettext("Then the best ones get longer forms, as far as the budget goes.")]
    return [sentences[profile.lod], *(more if profile.lod == "adaptive" else [])]


def _remainder_sentence(profile: Profile) -> str:
    """Return what happens to items for which no step helped, as a sentence."""
    turns = any(section.shape == "turns" for section in profile.sections)
    if not profile.fill:
        return gettext("Everything else is excluded.")
    if "summarise" in profile.over_budget or ("compact" in profile.over_budget and turns):
        return gettext("Everything else is excluded, and included in a shorter form if a tenth of the budget is free.")
    return gettext("Everything else is excluded, and included after all if a tenth of the budget is free.")


def _weight_rows(profile: Profile) -> list[WeightRow]:
    labels = {
        "relevance": gettext("relevance"),
        "recency": gettext("recency"),
        "salience": gettext("importance"),
        "credibility": gettext("confidence"),
        "coherence": gettext("coherence"),
    }
    weights = asdict(profile.weights)
    most = max(weights.values()) or 1
    return [WeightRow(label, weights[name], round(1000 * weights[name] / most)) for name, label in labels.items()]


PROFILE_GUIDANCE = Guidance(
    name=_("Profile"),
    purpose=_("how contexts are assembled"),
    question=_("Format of profiles"),
    advice=(
        _("One section per heading of the context, in order."),
        _("Required sections come first and are never truncated; turns of the conversation come last."),
        _("A section uses at most its limit (cap) in tokens and its share of the budget in percent."),
        _("Sections of blocks are adjacent: their items compete by the weights."),
        _(
            "over_budget lists the steps for items that do not fit: drop, compact and summarise, in "
            "this order; cut_at says where a text that is still too long is truncated: anywhere, "
            "sentence, paragraph or heading."
        ),
        _(
            "The ranker of a section ranks chunks of documents: default, similarity, words or seed "
            "(the default); the ranker of the profile ranks memories."
        ),
        _(
            "domain is general, code, documentation or research: its weights count for every measure to which weights "
            "gives none."
        ),
        _("With fill: true, excluded items are included after all if a tenth of the budget is free."),
        _(
            "lod includes blocks at a level of detail, in place of over_budget: macro, micro, atomic, or "
            "adaptive, which includes more items shortly and then the best ones at length."
        ),
        _(
            "scope_limits, half_life (days) and credibility have a number for each memory scope: noosphere, "
            "library, experience, workshop."
        ),
        _(
            "relevance_floor excludes the items of a section with a lower relevance to the topic; least_origin "
            "those from a less trusted origin: person, agent, tool or external."
        ),
        _(
            "delimit: tags puts sections between tags. cut_mark: source names where the rest of a truncated text "
            "is. deduplicate: true includes equal texts once; report_failures: true names failed sources."
        ),
        _(
            "conflicts says what becomes of texts that contradict each other until a person decides: mark, withhold, "
            "tell, warn or off. coherence_min is the least coherence without a warning."
        ),
        _(
            "privacy_mode: mask puts placeholders for e-mail addresses, phone numbers, numbers of accounts, cards and "
            "persons, and IP addresses; strict also leaves out everything above internal."
        ),
        _(
            "second_round: true reads the sources again, with wider searches, for a context that names too few of the "
            "entities that its request names, or has nothing of a memory scope."
        ),
        _(
            "summaries_max is the most texts of a context that are sent to the model server for summaries; others are "
            "shortened by extraction. 0 sends none."
        ),
        _("Explain numbers by comments after #."),
    ),
    example=(
        "- key: patterns\n  heading: Applicable Patterns\n  layer: L6\n  source: patterns\n  shape: "
        "blocks\n  share: 5        # percent of the budget\n  cap: 900        # tokens\n  top_k: 5  "
        "      # maximum number of items\n  overflow: drop  # or cut: the best item is truncated"
    ),
)


@dataclass(frozen=True, slots=True)
class OfferedSource:
    """A source for a section, with the shapes that it supports and its required keys (none: any key)."""

    name: str
    label: str
    shapes: tuple[str, ...]
    keys: tuple[str, ...]


def offered_sources() -> list[OfferedSource]:
    """Return the sources in the order of their registration."""
    return [
        OfferedSource(name, source_label(name), SOURCE_SHAPES.get(name, ("blocks",)), FILE_KEYS.get(name, ()))
        for name in known_sources()
    ]
