"""A request can override numbers of its profile."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from assembly.engine.profile import DOMAIN_WEIGHTS, Profile, Section, Weights
from assembly.engine.types import InvalidAssembly
from config.http.errors import Invalid

Strategy = Mapping[str, Any]
"""The overrides of a request: weights, domain, depth_limit, similarity_threshold, budget_allocation, caps, top_k, omit,
over_budget, fill, cut_at, lod; all are optional.
"""

PLAIN_FIELDS = ("domain", "depth_limit", "similarity_threshold", "fill", "cut_at", "lod")
"""The overrides that replace a field of the profile as they are."""

SectionOverrides = Mapping[str, Any]
"""Values by the keys of sections."""


def apply_strategy(profile: Profile, strategy: Strategy) -> Profile:
    """Return the profile with the overrides of the strategy; its name and version remain.

    A percentage of `budget_allocation` belongs to the section with that key, or to all sections of the source with that
    name. Raises Invalid for sections that the profile lacks, and for limits on sections that are always included in
    full.
    """
    if not strategy:
        return profile
    sections = _resize_sections(profile.sections, strategy)
    facts = {name: strategy[name] for name in PLAIN_FIELDS if name in strategy}
    if "over_budget" in strategy:
        facts["over_budget"] = tuple(strategy["over_budget"])
    try:
        return replace(profile, sections=sections, weights=_weights(profile, strategy), **facts)
    except InvalidAssembly as error:
        raise Invalid("strategy", str(error)) from None


def sets_weights(strategy: Strategy) -> bool:
    """Return whether the strategy gives weights, or a domain, whose weights replace those of the profile."""
    return bool(strategy.get("weights")) or "domain" in strategy


def _weights(profile: Profile, strategy: Strategy) -> Weights:
    """Return the weights of the strategy; those that it does not give are its domain's, or the profile's."""
    unless_given = DOMAIN_WEIGHTS[strategy["domain"]] if "domain" in strategy else profile.weights
    return replace(unless_given, **strategy.get("weights", {}))


def _resize_sections(sections: tuple[Section, ...], strategy: Strategy) -> tuple[Section, ...]:
    shares = _allocation_by_key(sections, strategy.get("budget_allocation", {}))
    sections = _change_sections(
        sections, "budget_allocation", shares, lambda section, share: replace(section, share=share)
    )
    sections = _change_sections(
        sections, "caps", strategy.get("caps", {}), lambda section, cap: replace(section, cap=cap)
    )
    sections = _change_sections(
        sections, "top_k", strategy.get("top_k", {}), lambda section, k: replace(section, top_k=k)
    )
    return _without_sections(sections, strategy.get("omit", ()))


def _allocation_by_key(sections: Sequence[Section], allocation: SectionOverrides) -> SectionOverrides:
    """Return the allocation by section: the name of a source is replaced by its sections. A name that is both a key and
    a source is the key.
    """
    sources = {section.source for section in sections} - {section.key for section in sections}
    spelled = {
        section.key: allocation[section.source] for section in sections if section.source in sources & allocation.keys()
    }
    return spelled | {name: share for name, share in allocation.items() if name not in sources}


def _change_sections(
    sections: tuple[Section, ...], wish: str, wanted: SectionOverrides, change: Callable[[Section, Any], Section]
) -> tuple[Section, ...]:
    _refuse_unknown(sections, wish, wanted)
    for section in sections:
        if section.required and wanted.get(section.key) is not None:
            raise _invalid_strategy(wish, f"{section.label} is required and has no limit. Remove it here.")
    return tuple(change(section, wanted[section.key]) if section.key in wanted else section for section in sections)


def _without_sections(sections: tuple[Section, ...], omitted: Collection[str]) -> tuple[Section, ...]:
    _refuse_unknown(sections, "omit", omitted)
    for section in sections:
        if section.required and section.key in omitted:
            raise _invalid_strategy("omit", f"{section.label} is always in: it cannot be omitted.")
    return tuple(section for section in sections if section.key not in omitted)


def _refuse_unknown(sections: Sequence[Section], wish: str, named: Collection[str]) -> None:
    keys = [section.key for section in sections]
    if not set(named) <= set(keys):
        raise _invalid_strategy(wish, f"The profile lacks a section that is named here. It has: {', '.join(keys)}.")


def _invalid_strategy(wish: str, reason: str) -> Invalid:
    return Invalid(f"strategy.{wish}", reason)
