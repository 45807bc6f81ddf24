"""A text with a publication guard is refused if it breaks a recall test, whoever publishes it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from assembly.models import RecallTest, StoredProfile
from assembly.profiles.catalogue import known_sources
from assembly.profiles.parser import parse_profile
from assembly.recall_tests.publication import has_guard, runs_concerned, visible_runs
from assembly.recall_tests.run import RecallRun, RunOutcome, UnsavedChange, failures_by_name, run_tests
from config.text_changes import current_text_changes
from teams.principal import Principal
from teams.sensitivity import reading_as, reading_everything
from teams.versioned_text.publication import PublicationRefused
from teams.versioned_text.versioned_file import VersionedFile

GUARD_SECONDS = 20.0
"""Seconds after which no further test is started before a guarded text is published."""
SHOWN_FAILURES = 3
"""The number of failed tests that the error message of a refused text names."""
MAX_SHOWN_NAME = 80
"""The most characters of the name of an expectation in this message."""


def refuse_failing(principal: Principal, file: VersionedFile, content: str) -> None:
    """Raise PublicationRefused if the text has a guard and the content breaks a recall test.

    All tests are run up to the clearance of their agents, whatever the principal may read. The error names those of the
    failed tests that the principal may read, with the reasons. Tests that failed before refuse nothing: the error, or
    else a note of the response, names them. One query without a guard. An invalid profile passes: saving it is refused
    anyway.
    """
    if not has_guard(file.about):
        return
    change = UnsavedChange(texts={file.about: content})
    if isinstance(file, StoredProfile):
        change = UnsavedChange(
            profile=parse_profile(content, name=file.name, version=file.version + 1, sources=known_sources())
        )
    with reading_everything():
        report = run_tests(runs_concerned(file.about), change, seconds=GUARD_SECONDS)
    readable = _readable(principal, report.failed, change)
    if report.broken:
        raise refusal(readable, len(report.broken))
    current_text_changes().remarks += failing_before_sentences(readable)


def _readable(principal: Principal, failed: Sequence[RunOutcome], change: UnsavedChange) -> list[RunOutcome]:
    """Return what the principal may read of the failed tests, from second runs which the principal's clearance limits.

    A test that the change breaks only because of texts above this clearance is left out, and so is the reverse.
    """
    broken = {outcome.run: outcome.is_broken for outcome in failed}
    with reading_as(principal):
        visible = visible_runs(principal, [*broken])
        tests = RecallTest.objects.select_related("agent", "team").in_bulk([run.test.id for run in visible])
        runs = [RecallRun(tests[run.test.id], run.agent) for run in visible if run.test.id in tests]
        report = run_tests(runs, change, seconds=GUARD_SECONDS)
    return [outcome for outcome in report.failed if outcome.is_broken == broken[outcome.run]]


def failing_before_sentences(failed: Iterable[RunOutcome]) -> list[str]:
    """Return a sentence on each of the failed tests that fails without the change, too, and is not broken by it."""
    return [
        _("The recall test “%(test)s” for %(agent)s failed before, and fails with this text, too.")
        % {"test": one.run.test.name, "agent": one.run.agent.name}
        for one in failed
        if not one.is_broken
    ]


def refusal(failed: Sequence[RunOutcome], count: int) -> PublicationRefused:
    """Return the error for `count` tests that the text breaks. Those of them in `failed` may be named, like the other
    failed tests in it, which failed before. Of the rest, the error says nothing but how many they are: the principal
    may not read them, or there was no time to run them again.
    """
    named = [one for one in failed if one.is_broken]
    beginning = ngettext(
        "Nothing was published: %(count)s recall test fails with this text.",
        "Nothing was published: %(count)s recall tests fail with this text.",
        count,
    ) % {"count": f"{count:,}"}
    sentences = [
        _("“%(test)s” for %(agent)s: %(reasons)s")
        % {"test": one.run.test.name, "agent": one.run.agent.name, "reasons": " ".join(_named_reasons(one))}
        for one in named[:SHOWN_FAILURES]
    ]
    if unnamed := count - len(named):
        sentences.append(_unreadable(unnamed, count))
    sentences += failing_before_sentences(failed)[:SHOWN_FAILURES]
    return PublicationRefused(" ".join([beginning, *sentences]), tests=[_failed_document(one) for one in failed])


def _unreadable(unnamed: int, count: int) -> str:
    if count == 1:
        return _("It cannot be named to you. Ask an organisation admin.")
    return _("%(count)s of them cannot be named to you. Ask an organisation admin.") % {"count": f"{unnamed:,}"}


def _named_reasons(outcome: RunOutcome) -> Iterator[str]:
    """Yield the name of each broken expectation and why it is not met: most reasons do not say what they are about."""
    for name, reason in failures_by_name(outcome, broken_alone=True):
        yield f"{Truncator(name).chars(MAX_SHOWN_NAME)}: {reason}" if name else reason


def _failed_document(outcome: RunOutcome) -> dict[str, Any]:
    return {
        "id": str(outcome.run.test.id),
        "name": outcome.run.test.name,
        "agent": outcome.run.agent.slug,
        "held_before": outcome.held_before,
        "broken": outcome.is_broken,
        "failures": [{"expectation": name, "reason": reason} for name, reason in failures_by_name(outcome)],
    }
