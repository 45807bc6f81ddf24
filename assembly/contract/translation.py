"""Translation turns a valid MemoryRequest.v0 into the request of the pipeline.

What the contract has other words for becomes what `POST /assemblies` takes: levels, domains and scopes are overrides
of the profile (`strategy`). So a record holds them, and replay, why-not and what-if know nothing of the contract.
"""

from collections.abc import Mapping
from typing import Any

from assembly.engine.scopes import SCOPE_LAYERS, SCOPES, MemoryScope
from assembly.pipeline.request import DEFAULT_TOKENIZER, AssemblyRequest, RequestBudgets
from assembly.profiles.catalogue import find_profile
from config.http.serializers import Moment
from teams.sensitivity import DEFAULT_LEVEL, LEVEL_WORDS

DEFAULT_PROFILE = "memory"

_SCOPE_NAMES: Mapping[str, MemoryScope] = {
    **{scope: scope for scope in SCOPES},
    **{layer: scope for scope, layer in SCOPE_LAYERS.items()},
}
"""The scopes by both of their spellings."""


def requested_scopes(memory_request: Mapping[str, Any]) -> tuple[MemoryScope, ...]:
    """Return the scopes that the request asks for, in the order of their precedence; all unless it names some."""
    named = {_SCOPE_NAMES[name] for name in memory_request.get("source_scope", SCOPES)}
    return tuple(scope for scope in SCOPES if scope in named)


def to_assembly_request(memory_request: Mapping[str, Any]) -> AssemblyRequest:
    """Return the valid request as the pipeline takes it. Raises Invalid for an unknown profile."""
    budgets, profile = memory_request.get("budgets", {}), memory_request.get("profile", DEFAULT_PROFILE)
    return AssemblyRequest(
        topic=memory_request["intent"],
        entities=tuple(memory_request.get("entities", ())),
        profile=profile,
        max_tokens=_whole(budgets.get("tokens_max")),
        tokenizer=memory_request.get("tokenizer", DEFAULT_TOKENIZER),
        now=Moment().run_validation(memory_request["now"]) if "now" in memory_request else None,
        session=memory_request.get("session", ""),
        budgets=RequestBudgets(_whole(budgets.get("time_ms")), budgets.get("quality_min")),
        strategy=_strategy(memory_request, profile),
        kv_policy=memory_request.get("kv_policy"),
        privacy_mode=memory_request.get("privacy_mode", "off"),
        sensitivity=LEVEL_WORDS[memory_request.get("sensitivity", DEFAULT_LEVEL.word)],
        format="messages" if memory_request.get("format") == "messages" else "markdown",
    )


def _whole(number: float | None) -> int | None:
    """Return a whole number as an int: JSON may write it as 100.0."""
    return None if number is None else int(number)


def _strategy(memory_request: Mapping[str, Any], profile: str) -> dict[str, Any]:
    strategy: dict[str, Any] = {}
    if "lod_preference" in memory_request:
        # Levels of detail replace a profile's own steps over budget.
        strategy |= {"lod": memory_request["lod_preference"], "over_budget": []}
    if "domain" in memory_request:
        strategy["domain"] = memory_request["domain"]
    wanted = set(requested_scopes(memory_request))
    if wanted != set(SCOPES):
        # What a profile always includes, and what belongs to no scope, stays.
        strategy["omit"] = [
            section.key
            for section in find_profile(profile).sections
            if section.scope is not None and section.scope not in wanted and not section.required
        ]
    return strategy
