"""Promises 3 and 4: equal input gives equal bytes, in whatever order it arrives, and from the record alone."""

import json
import random
from dataclasses import replace

from msgspec import structs

from assembly.engine.profile import Profile
from assembly.engine.types import Candidate, EngineRequest, Summary
from tests.engine.situations import Settled, Situation


def the_same_gives_the_same(settled: Settled) -> None:
    situation = settled.started_from
    assert settled.runs <= len(situation.candidates) + 2
    assert settled.assembled.wanted == ()
    check_the_order_of_arrival(situation, settled)
    check_the_record(settled)
    check_that_summaries_are_for_those_who_want_them(settled.situation)


def check_the_order_of_arrival(situation: Situation, settled: Settled) -> None:
    """It changes nothing, neither how often something is wanted nor what comes of it in the end."""
    shuffled = list(situation.candidates)
    random.Random(len(shuffled)).shuffle(shuffled)
    other = replace(situation, candidates=tuple(shuffled)).settled()
    assert (other.assembled, other.runs) == (settled.assembled, settled.runs)


def check_the_record(settled: Settled) -> None:
    """What is recorded assembles to the same, by value: the summaries are part of it, and no more are wanted."""
    situation = settled.situation
    recorded = json.dumps(
        {
            "request": situation.request.to_dict(),
            "profile": situation.profile.to_dict(),
            "candidates": [candidate.to_dict() for candidate in situation.candidates],
        },
        allow_nan=False,
    )
    read = json.loads(recorded)
    texts_of = [(item.text, item.summary.text if item.summary else "") for item in situation.candidates]
    again = Situation(
        EngineRequest.from_dict(read["request"]),
        Profile.from_dict(read["profile"]),
        tuple(Candidate.from_dict(data, *texts) for data, texts in zip(read["candidates"], texts_of, strict=True)),
        situation.manners,
    )
    assert again == situation
    assert again.assembled() == settled.assembled


def check_that_summaries_are_for_those_who_want_them(situation: Situation) -> None:
    """Without a ladder, nothing is made shorter, and nothing is wanted: a summary that is there changes nothing."""
    plain = replace(situation, profile=replace(situation.profile, over_budget=(), fill=False))
    bare = [structs.replace(candidate, summary=None) for candidate in situation.candidates]
    told = [structs.replace(candidate, summary=Summary("Short.", "of-tests")) for candidate in situation.candidates]
    without = replace(plain, candidates=tuple(bare)).assembled()
    assert without.wanted == ()
    assert without == replace(plain, candidates=tuple(told)).assembled()
