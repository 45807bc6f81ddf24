"""Uses per day: added up in processes, written together."""

import datetime

import pytest
from django.db import OperationalError, connection

from agents.quotas import uses as module
from agents.quotas.models import DailyUse
from agents.quotas.uses import UseCounter, today

pytestmark = [pytest.mark.django_db, pytest.mark.finding("3q")]


def row(subject: str) -> tuple[int, int, int, int]:
    found = DailyUse.objects.get(subject=subject, day=today())
    return found.requests, found.refused, found.text_bytes, found.record_bytes


def test_two_processes_add_to_the_same_day_and_learn_the_sum() -> None:
    first, second = UseCounter(), UseCounter()
    first.add(["key:1", "agent:2"], requests=1, text_bytes=100)
    first.add(["key:1", "agent:2"], requests=1)
    second.add(["key:1"], requests=1, refused=1, record_bytes=7)
    assert first.stored_today("key:1") == (100, 0)
    first.flush()
    second.flush()
    assert row("key:1") == (3, 1, 100, 7)
    assert row("agent:2") == (2, 0, 100, 0)
    assert second.stored_today("key:1") == (100, 7)
    second.add(["key:1"], text_bytes=5)
    assert second.stored_today("key:1") == (105, 7)
    assert first.stored_today("key:1") == (100, 0), "as of its last flush"


def test_nothing_is_lost_when_the_database_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    uses = UseCounter()
    uses.add(["key:1"], text_bytes=100)

    def fail() -> None:
        raise OperationalError

    monkeypatch.setattr(connection, "cursor", fail)
    with pytest.raises(OperationalError):
        uses.flush()
    monkeypatch.undo()
    uses.add(["key:1"], text_bytes=1)
    assert uses.stored_today("key:1") == (101, 0)
    uses.flush()
    assert row("key:1")[2] == 101


def test_a_new_day_begins_at_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    uses = UseCounter()
    uses.add(["key:1"], text_bytes=100)
    uses.flush()
    tomorrow = today() + datetime.timedelta(days=1)
    monkeypatch.setattr(module, "today", lambda: tomorrow)
    assert uses.stored_today("key:1") == (0, 0)


def test_an_idle_process_asks_the_database_nothing(django_assert_num_queries: object) -> None:
    with django_assert_num_queries(0):  # type: ignore[operator]
        UseCounter().flush()


def test_days_of_long_ago_are_deleted() -> None:
    for days in (0, 89, 91):
        DailyUse.objects.create(subject="key:1", day=today() - datetime.timedelta(days=days))
    UseCounter().delete_old()
    assert DailyUse.objects.count() == 2
