"""Alerts about recall tests: a change of the embedder opens them, and a pass closes them, whoever ran the test.

Nothing that is archived or deleted is run any more, so archiving or deleting a test closes all its alerts.
"""

from collections.abc import Collection
from uuid import UUID

from assembly.models import Alert, AlertKind, RecallTest
from assembly.monitoring.alerts.watch import alerts_close


def recall_test_thing(test_id: UUID) -> str:
    """Return what alerts about the test are about (`Alert.thing`)."""
    return f"recall_test:{test_id}"


def recall_test_alerts_close(test: RecallTest) -> None:
    """Close all open alerts about a test that is not run any more; needs `alerts_lock`.

    They may be more sensitive than what the person reads, so they are closed whoever archives or deletes the test.
    """
    about_it = Alert.everything.filter(kind=AlertKind.RECALL_TEST_FAILED, thing=recall_test_thing(test.id))
    alerts_close(about_it.filter(closed=None))


def passed_alerts_close(test: RecallTest, agents: Collection[UUID]) -> None:
    """Close the open alerts about a test that passed for these agents; needs `alerts_lock`.

    A run sees what its reader may read. So an alert stays open if it is more sensitive than that: the test may have
    passed because the reader does not see the item on which it fails.
    """
    about_it = Alert.objects.filter(kind=AlertKind.RECALL_TEST_FAILED, thing=recall_test_thing(test.id))
    alerts_close(about_it.filter(agent_id__in=agents, closed=None))
