"""Whose turn it is to add to the chain: one transaction's at a time, of all workers."""

from django.db import connection

HOLD = "SELECT pg_advisory_xact_lock(hashtext('dossier seals'))"
TRY = "SELECT pg_try_advisory_xact_lock(hashtext('dossier seals'))"


def chain_is_ours() -> bool:
    """Whether the open transaction may add to the chain; if so, nobody else may until it ends. Waits for nobody."""
    with connection.cursor() as cursor:
        cursor.execute(TRY)
        ((ours,),) = cursor.fetchall()
        return bool(ours)


def hold_chain() -> None:
    """Wait until the open transaction may add to the chain."""
    with connection.cursor() as cursor:
        cursor.execute(HOLD)
