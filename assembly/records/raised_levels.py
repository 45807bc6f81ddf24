"""Recorded contexts are raised to the level of a text that was raised after they considered it.

Triggers of the tables of texts note each row whose sensitivity rises. Every few seconds, workers look at what was
noted, and raise the contexts, alerts and suggestions that have the row's text in any version, a few hundred at a time.
An alert about a conflict may be below the context that showed it, so it is raised with the texts of the conflict.
Contexts and alerts that were made before the text was raised may be recorded a little later, so each row is looked at a
second time.
"""

import logging
from datetime import timedelta
from uuid import UUID

from django.db import DatabaseError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from assembly.models import Alert, AlertKind, Conflict, Proposal
from assembly.models.monitoring import CONFLICT_PREFIX
from assembly.records.sealed_pieces import pieces_seal
from assembly.records.stored_copies import alert_messages_delete, copies_check_again
from config.db.statements import execute_sql, fetch_rows
from config.keys.key_errors import KeysUnavailable
from memories.jobs.periodic import periodic
from teams.sealing.parts import rows_seal
from teams.sensitivity import DEFAULT_LEVEL

logger = logging.getLogger(__name__)

RAISING_SECONDS = 5
SECOND_LOOK_AFTER = timedelta(minutes=3)
"""Longer than any request for a context takes."""
AFTER_FAILURE = timedelta(minutes=1)
MAX_CONTEXTS = 200
"""Most contexts that one transaction raises."""

BELOW_SQL = "SELECT contexts_below(%(item)s, %(level)s::smallint, %(most)s)"
RAISE_SQL = "SELECT raise_contexts(%(level)s::smallint, %(ids)s::uuid[])"
DUE_SQL = "SELECT item, level, due, seen FROM raised_texts WHERE due <= now() ORDER BY due, item LIMIT 100"
# If the text is raised once more in the meantime, its row has another time.
LATER_SQL = "UPDATE raised_texts SET seen = %(seen)s, due = %(later)s WHERE item = %(item)s AND due = %(due)s"
DONE_SQL = "DELETE FROM raised_texts WHERE item = %(item)s AND due = %(due)s"


@periodic(RAISING_SECONDS, "raised levels")
def raise_recorded_levels() -> None:
    """Raise the recorded contexts of all texts that were raised; several workers may do so at once."""
    while due := fetch_rows(DUE_SQL):
        for item, level, at, seen in due:
            row = {"item": item, "due": at}
            try:
                _raise_contexts_of(item, level)
            except (DatabaseError, KeysUnavailable):
                logger.exception("contexts with %s could not be raised; the next attempt is in a minute", item)
                execute_sql(LATER_SQL, {**row, "seen": seen, "later": timezone.now() + AFTER_FAILURE})
                continue
            if seen:
                execute_sql(DONE_SQL, row)
            else:
                execute_sql(LATER_SQL, {**row, "seen": True, "later": timezone.now() + SECOND_LOOK_AFTER})


def _raise_contexts_of(item: UUID, level: int) -> None:
    if level > DEFAULT_LEVEL:
        pieces_seal(item)
        copies_check_again()
    _raise_conflict_alerts(item, level)
    raised = MAX_CONTEXTS
    while raised == MAX_CONTEXTS:
        raised = _raise_some(item, level)


@transaction.atomic
def _raise_some(item: UUID, level: int) -> int:
    """Raise some contexts, after their topics, proposals and alerts were sealed; return how many."""
    ids = [id_ for (id_,) in fetch_rows(BELOW_SQL, {"item": item, "level": level, "most": MAX_CONTEXTS})]
    if level > DEFAULT_LEVEL:
        proposals = Proposal.everything.filter(assembly_id__in=ids, sensitivity__lte=DEFAULT_LEVEL)
        rows_seal("assemblies", ids)
        _alerts_seal(Alert.everything.filter(context__in=ids))
        rows_seal("proposals", [*proposals.values_list("id", flat=True)])
    fetch_rows(RAISE_SQL, {"ids": ids, "level": level})
    return len(ids)


@transaction.atomic
def _raise_conflict_alerts(item: UUID, level: int) -> None:
    """Raise the alerts about conflicts of the item, after they were sealed."""
    conflicts = Conflict.everything.filter(Q(left_item=item) | Q(right_item=item)).values_list("id", flat=True)
    things = [f"{CONFLICT_PREFIX}{id_}" for id_ in conflicts]
    lower = Alert.everything.filter(kind=AlertKind.CONFLICT_OPEN, thing__in=things, sensitivity__lt=level)
    if level > DEFAULT_LEVEL:
        _alerts_seal(lower)
    lower.update(sensitivity=level)


def _alerts_seal(alerts: QuerySet[Alert]) -> None:
    """Seal those of the alerts that are not above internal yet, and delete the messages about them."""
    plain = [*alerts.filter(sensitivity__lte=DEFAULT_LEVEL).values_list("id", flat=True)]
    rows_seal("alerts", plain)
    alert_messages_delete(plain)
