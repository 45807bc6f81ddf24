"""Turns between callers: whoever used least is next, and nobody takes all threads."""

import asyncio

import pytest

from config.server.limiter import FairLimiter, MovedToHeavyLane

pytestmark = pytest.mark.finding("3b")


async def _take(turns: FairLimiter, caller: str, begun: list[str], seconds: float = 0.005) -> None:
    async with turns.one(caller):
        begun.append(caller)
        await asyncio.sleep(seconds)


def test_one_request_waits_for_one_of_a_caller_with_forty() -> None:
    begun: list[str] = []

    async def story() -> None:
        turns = FairLimiter(1, counted_seconds=60)
        greedy = [asyncio.create_task(_take(turns, "greedy", begun)) for _ in range(40)]
        await asyncio.sleep(0.02)
        so_far = len(begun)
        await _take(turns, "other", begun)
        assert begun.index("other") <= so_far + 1
        await asyncio.gather(*greedy)

    asyncio.run(asyncio.wait_for(story(), 30))
    assert len(begun) == 41


def test_cheap_requests_of_one_are_as_much_as_few_costly_ones_of_another() -> None:
    begun: list[str] = []

    async def story() -> None:
        turns = FairLimiter(1, counted_seconds=60)
        costly = [_take(turns, "costly", begun, 0.05) for _ in range(6)]
        cheap = [_take(turns, "cheap", begun, 0.001) for _ in range(60)]
        await asyncio.gather(*costly, *cheap)

    asyncio.run(asyncio.wait_for(story(), 30))
    assert begun[:30].count("cheap") > 20, "six costly requests before thirty cheap ones"


def test_time_without_requests_is_not_saved_up() -> None:
    begun: list[str] = []

    async def story() -> None:
        turns = FairLimiter(1, counted_seconds=60)
        for _ in range(20):
            await _take(turns, "early", begun)
        begun.clear()
        await asyncio.gather(*[_take(turns, caller, begun) for _ in range(20) for caller in ("early", "late")])

    asyncio.run(asyncio.wait_for(story(), 30))
    assert 5 <= begun[:20].count("early") <= 15


def test_requests_that_hang_take_no_more_than_their_share_of_threads() -> None:
    async def story() -> None:
        turns, end, hanging = FairLimiter(1, counted_seconds=0.01, max_per_caller=3), asyncio.Event(), 0

        async def hang() -> None:
            nonlocal hanging
            async with turns.one("greedy"):
                hanging += 1
                await end.wait()

        greedy = [asyncio.create_task(hang()) for _ in range(10)]
        await asyncio.sleep(0.2)
        assert hanging == 3
        begun: list[str] = []
        await _take(turns, "other", begun)
        end.set()
        await asyncio.gather(*greedy)
        assert hanging == 10

    asyncio.run(asyncio.wait_for(story(), 30))


def test_one_that_is_given_up_while_it_waits_leaves_its_place() -> None:
    async def story() -> None:
        turns, end = FairLimiter(1, counted_seconds=60), asyncio.Event()

        async def hold() -> None:
            async with turns.one("first"):
                await end.wait()

        first = asyncio.create_task(hold())
        await asyncio.sleep(0)
        given_up = asyncio.create_task(_take(turns, "second", []))
        await asyncio.sleep(0)
        given_up.cancel()
        end.set()
        await first
        begun: list[str] = []
        await _take(turns, "third", begun)
        assert begun == ["third"]

    asyncio.run(asyncio.wait_for(story(), 30))


def test_who_computes_for_long_begins_nothing_else_and_sends_its_waiting_ones_away() -> None:
    async def story() -> None:
        turns, end = FairLimiter(1, counted_seconds=0.02), asyncio.Event()
        begun: list[str] = []

        async def compute() -> None:
            async with turns.one("greedy", is_computing=lambda: True):
                await end.wait()

        async def movable() -> None:
            async with turns.one("greedy", movable=True):
                begun.append("movable")

        computing = asyncio.create_task(compute())
        await asyncio.sleep(0)
        sent_away, waiting = asyncio.create_task(movable()), asyncio.create_task(_take(turns, "greedy", begun))
        with pytest.raises(MovedToHeavyLane):
            await sent_away
        with pytest.raises(MovedToHeavyLane):
            await movable()
        await _take(turns, "other", begun)
        assert begun == ["other"], "the one that cannot be moved waits until the long one has ended"
        end.set()
        await asyncio.gather(computing, waiting)
        assert begun == ["other", "greedy"]
        await movable()

    asyncio.run(asyncio.wait_for(story(), 30))
