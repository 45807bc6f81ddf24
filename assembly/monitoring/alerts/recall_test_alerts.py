"""Alerts about recall tests: a change of the embedder opens them, and a pass closes them, whoever ran the test.

Nothing that is archived or deleted is run any more, so archiving or deleting a test closes all its alerts.
"""

from collections.abc import Collection
from uuid import UUID

from assembly.models import Alert, AlertKind, RecallTest
from assembly.monitoring.alerts.watch import ALERT_LOCK, alerts_close
from config.db.statements import lock_until_commit


def recall_test_alerts_lock() -> None:
    """Wait until nobody else opens or closes alerts, before a recall test is locked and before results are stored.

    Whoever has locked a test or deleted results never waits for this lock: whoever deletes a test holds it.
    """
    lock_until_commit(ALERT_LOCK)


def recall_test_thing(test_id: UUID) -> str:
    """Return what alerts about the test are about (`Alert.thing`)."""
    return f"recall_test:{test_id}"


def recall_test_alerts_close(test: RecallTest) -> None:
    """Close all open alerts about a test that is not run any more; needs `recall_test_alerts_lock`.

    They may be more sensitive than what the person reads, so they are closed whoever archives or deletes the test.
    """
    about_it = Alert.everything.filter(kind=AlertKind.RECALL_TEST_FAILED, thing=recall_test_thing(test.id))
    alerts_close(about_it.filter(closed=None))


def passed_alerts_close(test: RecallTest, agents: Collection[UUID]) -> None:
    """Close the open alerts about a test that passed for these agents; needs `recall_test_alerts_lock`.

    A run sees what its reader may read. So an alert stays open if it is more sensitive than that: the test may have
    passed because the reader does not see the item on which it fails.
    """
    about_it = Alert.objects.filter(kind=AlertKind.RECALL_TEST_FAILED, thing=recall_test_thing(test.id))
    alerts_close(about_it.filter(agent_id__in=agents, closed=None))
