"""Turns: first come, first served, few at a time; who hangs keeps nobody waiting."""

import asyncio

import pytest

from config.server.limiter import FairLimiter


def test_they_are_given_in_the_order_of_asking_and_few_at_a_time() -> None:
    begun: list[int] = []
    most = [0, 0]

    async def take(turns: FairLimiter, number: int) -> None:
        async with turns.one():
            begun.append(number)
            most[0] += 1
            most[1] = max(most)
            await asyncio.sleep(0.01)
            most[0] -= 1

    async def all_of_them() -> None:
        turns = FairLimiter(2, counted_seconds=60)
        await asyncio.gather(*[take(turns, number) for number in range(12)])

    asyncio.run(all_of_them())
    assert begun == list(range(12))
    assert most[1] == 2


def test_who_takes_long_counts_no_longer_and_ends_once() -> None:
    async def story() -> None:
        turns, hung = FairLimiter(1, counted_seconds=0.05), asyncio.Event()

        async def hang() -> None:
            async with turns.one():
                await hung.wait()

        hanging = asyncio.create_task(hang())
        await asyncio.sleep(0)
        async with turns.one():  # is only had because the first counts no longer
            hung.set()
            await hanging
            waiting = asyncio.create_task(hang())
            await asyncio.sleep(0)
            assert not waiting.done()  # the end of the first freed no second place
        await waiting

    asyncio.run(asyncio.wait_for(story(), 10))


def test_one_that_fails_gives_its_turn_back() -> None:
    async def story() -> None:
        turns = FairLimiter(1, counted_seconds=60)
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                async with turns.one():
                    1 / 0  # noqa: B018

    asyncio.run(asyncio.wait_for(story(), 10))
