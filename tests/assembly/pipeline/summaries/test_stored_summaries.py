"""A summary is kept once per text and model, whoever comes at once, and goes with its texts."""

from functools import partial

import pytest
from django.db import IntegrityError, connection, transaction

from assembly.models import StoredSummary, StoredText
from assembly.records.summaries import find_summaries, store_summaries
from tests.assembly.pipeline.stored_texts import delete_text, stored
from tests.assembly.pipeline.summaries.conftest import MODEL, ServerOf
from tests.assembly.pipeline.summaries.summary_factories import SUMMARY, TEXT, keep, saying, summaries_of, want
from tests.concurrency import at_once
from tests.refused_statements import refused


@pytest.mark.django_db
def test_each_is_kept_once_and_what_is_kept_stays() -> None:
    text, first, second = stored("A long text."), stored("A text."), stored("Text.")
    store_summaries([(text, "m", first), (text, "other", second)])
    store_summaries([(text, "m", second), (text, "m", first)])
    assert find_summaries(["A long text.", "Never seen."], "m") == {"A long text.": "A text."}
    assert find_summaries(["A long text."], "other") == {"A long text.": "Text."}
    assert StoredSummary.objects.count() == 2
    store_summaries([])


@pytest.mark.django_db
def test_a_summary_needs_both_its_texts() -> None:
    for row in ((stored("Kept."), "m", b"?" * 32), (b"?" * 32, "m", stored("Kept."))):
        with pytest.raises(IntegrityError), transaction.atomic():
            store_summaries([row])


@pytest.mark.django_db
def test_the_app_cannot_put_other_words_into_a_summary() -> None:
    store_summaries([(stored("A long text."), "m", stored("A text."))])
    for change in ("UPDATE summaries SET model = 'n'", "DELETE FROM summaries", "TRUNCATE summaries"):
        assert refused("default", change), change


def test_a_summary_keeps_no_text_alive(committed_database: str) -> None:
    keys = {name: stored(name) for name in ("long", "short", "longer", "shorter", "rest")}
    store_summaries([(keys["long"], "m", keys["short"]), (keys["longer"], "m", keys["shorter"])])
    delete_text(keys["long"])
    assert find_summaries(["long", "longer"], "m") == {"longer": "shorter"}
    delete_text(keys["shorter"])
    assert not StoredSummary.objects.exists()
    assert StoredText.objects.count() == 3


def test_those_who_come_at_once_keep_one(committed_database: str) -> None:
    texts = [stored(f"text {number}") for number in range(20)]
    summaries = [stored(f"summary {number}") for number in range(4)]

    def keep(summary: bytes, turn: int) -> None:
        rows = [(text, "m", summary) for text in texts]
        with transaction.atomic():
            store_summaries(rows if turn % 2 else rows[::-1])
            connection.cursor().execute("SELECT pg_sleep(0.05)")

    at_once([partial(keep, summary, turn) for turn, summary in enumerate(summaries)])
    assert StoredSummary.objects.count() == 20
    assert len(set(find_summaries([f"text {number}" for number in range(20)], "m").values())) == 1


def test_requests_at_once_get_the_same_summary_and_keep_it_once(committed_database: str, server_of: ServerOf) -> None:
    def ask_and_keep() -> str:
        made = summaries_of(want())
        with transaction.atomic():
            keep([want()], made)
        return next(iter(made.by_item.values())).text

    with server_of(saying(SUMMARY)):
        assert at_once([ask_and_keep] * 4) == [SUMMARY] * 4
    assert find_summaries([TEXT], MODEL) == {TEXT: SUMMARY}
    assert StoredSummary.objects.count() == 1
