"""An appended event is in first; the weakest parts go for it, whole, and the tokens are counted anew."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from assembly.engine.assemble import assemble
from assembly.engine.profile import Profile, Weights
from assembly.engine.tokenizers import get_tokenizer
from assembly.engine.types import Candidate, EngineRequest, EngineResult
from tests.engine.factories import NOW, codes, decision_on, section, texts

RELEVANCE = Weights(0, 1, 0, 0, 0)
IDENTITY = section("i", "Identity", required=True)
LATEST = section("l", "Latest", "sequence")
LOG = section("b", "Log", "blocks")
PROFILE = Profile("p", 1, (IDENTITY, LATEST, LOG), weights=RELEVANCE)
EVENT = Candidate("event:9@1", "l", "N" * 40, position=0)


def appended(*kept: Candidate, budget: int, tokenizer: str = "chars4") -> EngineResult:
    request = EngineRequest(budget, "", tokenizer, NOW, appended=EVENT.ref)
    return assemble(request, PROFILE, (EVENT, *kept), get_tokenizer(tokenizer))


def component(ref: str, text: str, score: float) -> Candidate:
    return Candidate(ref, "b", text, score=score, measures={"relevance": score})


KEPT = (
    Candidate("identity", "i", "I am."),
    component("a", "A" * 40, 0.9),
    component("b", "B" * 40, 0.2),
    component("c", "C" * 40, 0.5),
)


def test_where_there_is_room_nothing_goes() -> None:
    assembled = appended(*KEPT, budget=100)
    assert set(codes(assembled).values()) == {"required", "fits"}
    assert assembled.content.startswith(f"## Identity\nI am.\n\n## Latest\n\n{'N' * 40}\n\n## Log\n\n{'A' * 40}")
    assert not assembled.truncated


def test_the_lowest_score_goes_first_and_no_more_than_needed() -> None:
    whole = appended(*KEPT, budget=100)
    assembled = appended(*KEPT, budget=whole.tokens - 1)
    assert codes(assembled) == {
        "identity": "required", "event:9@1": "fits", "a": "fits", "c": "fits", "b": "over_total_budget",
    }  # fmt: skip
    assert decision_on(assembled, "b").detail == {"dropped_for": "event:9@1"}
    assert (assembled.truncated, assembled.sections[-1].status, assembled.sections[-1].considered) == (
        True, "partial", 3,
    )  # fmt: skip
    fewer = appended(*KEPT, budget=whole.tokens - 15)
    assert {ref for ref, code in codes(fewer).items() if code == "over_total_budget"} == {"b", "c"}


def test_what_is_required_stays_even_where_the_event_itself_must_be_cut() -> None:
    assembled = appended(*KEPT, budget=16)
    assert codes(assembled)["identity"] == "required"
    assert codes(assembled)["event:9@1"] == "truncated"
    assert assembled.tokens <= 16


@given(
    kept=st.lists(st.tuples(texts(), st.floats(0, 1)), max_size=8, unique_by=lambda pair: tuple(pair[0].split())),
    budget=st.integers(0, 200),
    tokenizer=st.sampled_from(["chars4", "cl100k_base"]),
)
def test_it_never_overruns_and_loses_none_silently(kept: list[tuple[str, float]], budget: int, tokenizer: str) -> None:
    components = [component(f"c:{number}@1", text, score) for number, (text, score) in enumerate(kept)]
    assembled = appended(*components, budget=budget, tokenizer=tokenizer)
    assert assembled.tokens == get_tokenizer(tokenizer).count(assembled.content) <= budget
    assert sorted(decision.ref for decision in assembled.decisions) == sorted([EVENT.ref, *(c.ref for c in components)])
    dropped = [one for one in assembled.decisions if "dropped_for" in one.detail]
    standing = [one for one in assembled.decisions if one.included and one.section == "b"]
    assert max((one.score or 0 for one in dropped), default=0) <= min((one.score or 0 for one in standing), default=9)
    assert not any(one.code.value == "truncated" for one in standing) or len(standing) == 1
    again = replace(assembled)
    assert again == appended(*reversed(components), budget=budget, tokenizer=tokenizer)
