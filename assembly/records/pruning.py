"""Pruning deletes records whose retention time is over, in batches, each with a row in `prunings` and a seal.

Then it deletes the pieces and texts that no record uses any more, with the summaries of these texts. Most pieces are
shared with other records: these are taken off the list first, without blocking anybody. For the rest,
inserts of new records wait for one lookup per piece.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db import OperationalError, transaction
from django.db.models import BooleanField, Func, Q, QuerySet
from django.utils import timezone
from uuid_utils.compat import uuid7

from assembly.models import Assembly, Pruning, RetentionPolicy, UnusedPiece
from assembly.records.seals import pruning_seal
from config.db.statements import execute_sql, fetch_rows
from teams.legal_holds import has_holds
from teams.principal import SYSTEM, Principal

BATCH, MAX_HELD = 200, 100_000
IS_HELD = Func("id", "agent_id", "team_id", function="is_held", output_field=BooleanField())
"""The database function that says whether a legal hold protects a record: a migration of `privacy` creates it."""

DELETE_USED_SQL = """
DELETE FROM unused_pieces WHERE piece = ANY(%s) AND (
    EXISTS (SELECT FROM assemblies WHERE told @> ARRAY[piece])
    OR EXISTS (SELECT FROM assemblies WHERE omitted @> ARRAY[piece])
)
"""
PRUNE_UNUSED_SQL = "SELECT prune_unused(%s)"

logger = logging.getLogger(__name__)


def unused_prune() -> int:
    """Delete the listed pieces that no record uses, and their texts if no other piece has them.

    Returns the number of deleted pieces. If the table lock is not obtained within two seconds, because records are
    being written all the time, the pieces stay listed for the next run.
    """
    pruned, last = 0, None
    while ids := _next_unused_ids(last):
        pruned, last = pruned + _prune_unused(ids), ids[-1]
    return pruned


def _next_unused_ids(last: int | None) -> list[int]:
    noted = UnusedPiece.objects.order_by("piece")
    rows = noted if last is None else noted.filter(piece__gt=last)
    return list(rows.values_list("piece", flat=True)[:BATCH])


def _prune_unused(ids: Sequence[int]) -> int:
    execute_sql(DELETE_USED_SQL, [list(ids)])
    left = list(UnusedPiece.objects.filter(piece__in=ids).values_list("piece", flat=True))
    try:
        return _delete_pieces(left) if left else 0
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", "") != "55P03":  # lock_not_available
            raise
        logger.warning("records are being written all the time: %d unused pieces wait for the next hour", len(left))
        return 0


def _delete_pieces(ids: Sequence[int]) -> int:
    with transaction.atomic():
        ((pruned,),) = fetch_rows(PRUNE_UNUSED_SQL, [list(ids)])
        return int(pruned)


PRUNE_ASSEMBLIES_SQL = "SELECT prune_assemblies(%s, %s, %s, %s, %s, %s)"


@dataclass(frozen=True, slots=True)
class PruneResult:
    """The numbers of records deleted, of pieces deleted because no other record uses them, and of records that are
    still there because of legal holds.
    """

    records: int = 0
    pieces: int = 0
    held: int = 0


def records_prune(*, principal: Principal = SYSTEM) -> PruneResult:
    """Delete all records whose retention time is over, then the pieces and texts that no other record uses.

    Not deleted are flagged records, if the policy says so; records that no seal holds yet; records that a newer one
    repeats, until the newer one is deleted, too; and what a legal hold protects.
    """
    policies = RetentionPolicy.objects.exclude(days=None)
    records = sum(_prune_assemblies(policy, ids, principal) for policy in policies for ids in _batches(policy))
    held = sum(held_count(policy) for policy in policies)
    if held:
        logger.info("records are older than their retention time, and legal holds protect them", extra={"held": held})
    return PruneResult(records, unused_prune(), held)


def outdated_records(policy: RetentionPolicy) -> QuerySet[Assembly]:
    """Return the records that are older than the policy allows and that no legal hold protects, without flagged ones
    if the policy protects these.
    """
    old = _old_records(policy)
    return old.alias(held=IS_HELD).filter(held=False) if has_holds() else old


def held_count(policy: RetentionPolicy) -> int:
    """Return how many records are older than the policy allows, and are there because of a legal hold; at most
    `MAX_HELD` are counted.
    """
    if not has_holds():
        return 0
    return _old_records(policy).alias(held=IS_HELD).filter(held=True)[:MAX_HELD].count()


def _old_records(policy: RetentionPolicy) -> QuerySet[Assembly]:
    if policy.days is None:
        return Assembly.objects.none()
    old = _records_under(policy).filter(created__lt=timezone.now() - timedelta(days=policy.days))
    return old.filter(flag=None) if policy.keep_flagged else old


def _batches(policy: RetentionPolicy) -> Iterator[list[UUID]]:
    """Yield batches of ids of the policy's outdated records, oldest first; each id once, even if it is not deleted."""
    old = outdated_records(policy)
    after: tuple[object, object] | None = None
    while True:
        rows = old.order_by("created", "id").values_list("created", "id")
        if after:
            rows = rows.filter(Q(created__gt=after[0]) | Q(created=after[0], id__gt=after[1]))
        found = list(rows[:BATCH])
        if not found:
            return
        yield [id_ for _, id_ in found]
        after = found[-1]


def _records_under(policy: RetentionPolicy) -> QuerySet[Assembly]:
    """Return the records under a policy: its team's, or those without a team or whose team has no policy of its own."""
    if policy.team_id:
        return Assembly.objects.filter(team_id=policy.team_id)
    own = RetentionPolicy.objects.exclude(team=None).values("team_id")
    return Assembly.objects.filter(Q(team_id=None) | ~Q(team_id__in=own))


def _prune_assemblies(policy: RetentionPolicy, ids: Sequence[UUID], principal: Principal) -> int:
    with transaction.atomic():
        same = RetentionPolicy.objects.select_for_update(no_key=True).filter(pk=policy.pk, version=policy.version)
        if not same.first():  # the policy was changed meanwhile
            return 0
        id_ = uuid7()
        ((records,),) = fetch_rows(
            PRUNE_ASSEMBLIES_SQL, [id_, list(ids), policy.team_id, policy.days, policy.keep_flagged, principal.ref]
        )
        if records:
            pruning_seal(Pruning.objects.get(id=id_))
    return int(records)
