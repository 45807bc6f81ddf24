"""Translation turns a valid MemoryRequest.v0 into the request of the pipeline.

What the contract has other words for becomes what `POST /assemblies` takes: levels, weights and scopes are overrides
of the profile (`strategy`). So a record holds them, and replay, why-not and what-if know nothing of the contract.
"""

from collections.abc import Mapping
from typing import Any

from assembly.engine.profile import DOMAIN_WEIGHTS
from assembly.engine.scopes import SCOPE_LAYERS, SCOPES, MemoryScope
from assembly.engine.types import field_values
from assembly.pipeline.request import DEFAULT_TOKENIZER, AssemblyRequest, RequestBudgets
from assembly.profiles.catalogue import find_profile
from config.http.serializers import Moment

DEFAULT_PROFILE = "memory"

_SCOPE_NAMES: Mapping[str, MemoryScope] = {
    **{scope: scope for scope in SCOPES},
    **{layer: scope for scope, layer in SCOPE_LAYERS.items()},
}
"""The scopes by both of their spellings."""


def requested_scopes(wishes: Mapping[str, Any]) -> tuple[MemoryScope, ...]:
    """Return the scopes that the request asks for, in the order of their precedence; all unless it names some."""
    named = {_SCOPE_NAMES[name] for name in wishes.get("source_scope", SCOPES)}
    return tuple(scope for scope in SCOPES if scope in named)


def to_assembly_request(wishes: Mapping[str, Any]) -> AssemblyRequest:
    """Return the valid request as the pipeline takes it. Raises Invalid for an unknown profile."""
    budgets, profile = wishes.get("budgets", {}), wishes.get("profile", DEFAULT_PROFILE)
    return AssemblyRequest(
        topic=wishes["intent"],
        entities=tuple(wishes.get("entities", ())),
        profile=profile,
        max_tokens=_whole(budgets.get("tokens_max")),
        tokenizer=wishes.get("tokenizer", DEFAULT_TOKENIZER),
        now=Moment().run_validation(wishes["now"]) if "now" in wishes else None,
        session=wishes.get("session", ""),
        budgets=RequestBudgets(_whole(budgets.get("time_ms")), budgets.get("quality_min")),
        strategy=_strategy(wishes, profile),
        kv_policy=wishes.get("kv_policy"),
        format="messages" if wishes.get("format") == "messages" else "markdown",
    )


def _whole(number: float | None) -> int | None:
    """Return a whole number as an int: JSON may write it as 100.0."""
    return None if number is None else int(number)


def _strategy(wishes: Mapping[str, Any], profile: str) -> dict[str, Any]:
    strategy: dict[str, Any] = {}
    if "lod_preference" in wishes:
        # Levels of detail replace a profile's own steps over budget.
        strategy |= {"lod": wishes["lod_preference"], "over_budget": []}
    if "domain" in wishes:
        strategy["weights"] = field_values(DOMAIN_WEIGHTS[wishes["domain"]])
    wanted = set(requested_scopes(wishes))
    if wanted != set(SCOPES):
        # What a profile always includes, and what belongs to no scope, stays.
        strategy["omit"] = [
            section.key
            for section in find_profile(profile).sections
            if section.scope is not None and section.scope not in wanted and not section.required
        ]
    return strategy
