"""What is counted of an assembly: exactly what it did, under the seed's names."""

from collections import Counter
from dataclasses import replace
from typing import Any, cast

import pytest
from django.db import connection
from django.utils import timezone
from prometheus_client import REGISTRY

from agents.models import Agent
from assembly.engine.scopes import SCOPES, SOURCE_SCOPES
from assembly.pipeline.answer_cache import AssemblyResult
from assembly.pipeline.read_plan import NEED_READERS
from assembly.pipeline.request import AssemblyRequest
from assembly.pipeline.services import assemble
from assembly.records.recorded_quality import context_quality
from assembly.sources import SOURCES
from teams.models import Team
from teams.principal import SYSTEM
from tests.assembly.one_of_each import everything

Counted = dict[tuple[str, tuple[tuple[str, str], ...]], float]

# The seed "Memory Layer", and what the customer asked for beside it: name → (type, labels).
NAMES = {
    "memory_assembly_duration_seconds": ("histogram", {"profile"}),
    "memory_coherence_score": ("histogram", set[str]()),
    "memory_completeness": ("histogram", set[str]()),
    "memory_contradiction_rate": ("histogram", set[str]()),
    "memory_quality": ("histogram", set[str]()),
    "memory_cache_hit_ratio": ("gauge", set[str]()),
    "memory_source_latency": ("histogram", {"layer", "source"}),
    "memory_source_errors": ("counter", {"layer", "source", "code"}),
    "memory_cache_lookups": ("counter", {"result"}),
    "memory_assembly_tokens": ("counter", {"profile"}),
    "memory_left_out": ("counter", {"code"}),
    "memory_summaries": ("counter", {"model", "result"}),
    "memory_second_rounds": ("counter", {"outcome"}),
}


@pytest.fixture
def kept(db: None) -> tuple[Agent, Team]:
    return everything(timezone.now())


def counted() -> Counted:
    """All counts of this process so far, without the buckets."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for metric in REGISTRY.collect()
        if metric.name in NAMES
        for sample in metric.samples
        if "le" not in sample.labels and not sample.name.endswith("_created")
    }


def value(name: str, **labels: str) -> float:
    return counted().get((name, tuple(sorted(labels.items()))), 0.0)


def moved(before: Counted) -> dict[tuple[str, ...], float]:
    """By how much each count has moved, by its name and its labels' values. Seconds are left aside."""
    return {
        (name, *(label for _, label in labels)): number - before.get((name, labels), 0.0)
        for (name, labels), number in counted().items()
        if not name.endswith(("_seconds_sum", "_latency_sum", "_ratio")) and number != before.get((name, labels), 0.0)
    }


def context(kept: tuple[Agent, Team], **wishes: Any) -> AssemblyResult:
    return assemble(agent=kept[0], team=kept[1], asked=AssemblyRequest(**wishes), principal=SYSTEM)


@pytest.mark.parametrize("name", NAMES)
def test_the_names_are_the_seeds(name: str, kept: tuple[Agent, Team]) -> None:
    context(kept, profile="coding", topic="ink", max_tokens=300)
    (metric,) = [metric for metric in REGISTRY.collect() if metric.name == name]
    kind, labels = NAMES[name]
    assert metric.type == kind
    assert {label for sample in metric.samples for label in sample.labels} - {"le"} in (labels, set())


@pytest.mark.parametrize("wishes", [{}, {"topic": "ink", "profile": "coding"}, {"profile": "coding", "max_tokens": 90}])
def test_one_assembly_moves_them_by_what_it_did(kept: tuple[Agent, Team], wishes: dict[str, Any]) -> None:
    before = counted()
    answer = context(kept, **wishes)
    told, profile = answer.assembly, answer.assembly.profile_name
    left_out = Counter(decision.code.value for decision in answer.decisions if not decision.included)
    quality = context_quality(told, answer.content, answer.decisions)
    expected: dict[tuple[str, ...], float] = {
        ("memory_assembly_duration_seconds_count", profile): 1,
        ("memory_assembly_tokens_total", profile): told.tokens,
        ("memory_cache_lookups_total", "miss"): 1,
        **{("memory_left_out_total", code): number for code, number in left_out.items()},
        **{
            ("memory_source_latency_count", SOURCE_SCOPES[report["name"]], report["name"]): 1 for report in told.sources
        },
    }
    expected |= {
        (f"memory_{name}_{part}",): number
        for name, measure in {
            "coherence_score": quality.coherence_score,
            "completeness": quality.completeness,
            "contradiction_rate": quality.contradiction_rate,
            "quality": quality.quality_achieved,
        }.items()
        if measure is not None
        for part, number in (("count", 1), ("sum", measure))
    }
    assert moved(before) == pytest.approx({name: number for name, number in expected.items() if number})


def test_the_coding_profile_measures_coherence(kept: tuple[Agent, Team]) -> None:
    before = value("memory_coherence_score_count")
    context(kept, topic="ink", profile="coding")
    assert value("memory_coherence_score_count") == before + 1


def test_a_hit_moves_the_ratio_and_asks_no_source(kept: tuple[Agent, Team]) -> None:
    context(kept)
    missed, before = value("memory_cache_hit_ratio"), counted()
    answer = context(kept)
    assert "repeats" in answer.assembly.request
    assert value("memory_cache_hit_ratio") > missed
    hits, misses = (value("memory_cache_lookups_total", result=result) for result in ("hit", "miss"))
    assert value("memory_cache_hit_ratio") == hits / (hits + misses)
    expected: dict[tuple[str, ...], float] = {
        ("memory_cache_lookups_total", "hit"): 1,
        ("memory_assembly_duration_seconds_count", "conversation"): 1,
        ("memory_assembly_tokens_total", "conversation"): answer.assembly.tokens,
        ("memory_completeness_count",): 1,
        ("memory_completeness_sum",): 1,
        ("memory_contradiction_rate_count",): 1,
        ("memory_coherence_score_count",): 1,
        ("memory_coherence_score_sum",): answer.assembly.request["coherence"],
        **{
            ("memory_left_out_total", code): number
            for code, number in Counter(each.code.value for each in answer.decisions if not each.included).items()
        },
    }
    assert moved(before) == pytest.approx(expected)


def _too_slow(*_: Any) -> Any:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 5; SELECT pg_sleep(5)")


def _broken(*_: Any) -> Any:
    raise LookupError("the ink is dry")


@pytest.mark.parametrize(
    ("gather", "code"),
    [(_too_slow, "SOURCE_TIMEOUT"), (_broken, "SOURCE_FAILED")],
)
def test_a_source_that_does_not_answer_is_counted_with_its_code(
    gather: Any, code: str, kept: tuple[Agent, Team], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SOURCES, "daily_logs", replace(SOURCES["daily_logs"], gather=gather, reading=None))
    labels = {"layer": "experience", "source": "daily_logs"}
    errors = value("memory_source_errors_total", **labels, code=code)
    asked = value("memory_source_latency_count", **labels)
    context(kept)
    assert value("memory_source_errors_total", **labels, code=code) == errors + 1
    assert value("memory_source_latency_count", **labels) == asked + 1


def test_what_several_sources_need_costs_each_of_them_one_error(
    kept: tuple[Agent, Team], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(cast("dict[str, Any]", NEED_READERS), "mentioned", _broken)
    before = counted()
    answer = context(kept, topic="Is the ink dry on the Paper?", profile="coding")
    failed = {report["name"] for report in answer.assembly.sources if report["code"]}
    assert failed == {name for name, source in SOURCES.items() if "mentioned" in source.needs}
    errors = {counts: number for counts, number in moved(before).items() if counts[0] == "memory_source_errors_total"}
    assert errors == {("memory_source_errors_total", "SOURCE_FAILED", SOURCE_SCOPES[name], name): 1 for name in failed}


def test_every_source_has_a_scope_and_every_scope_a_source() -> None:
    assert set(SOURCES) <= set(SOURCE_SCOPES)
    assert set(SOURCE_SCOPES.values()) == set(SCOPES)
