"""Alerts, suggestions and results of recall tests outlive the agent whose contexts they are about.

Those that are sealed are deleted when the last sealed context of the deleted agent is: they would keep its key.
"""

from collections.abc import Collection
from uuid import UUID

from django.db import transaction

from assembly.models import Alert, Proposal
from config.db.statements import fetch_rows
from teams.sealing.owners import ids_sealed_under, owners_in_use

REMNANTS = frozenset({"alerts", "proposals", "recall_results"})
"""The tables of what was derived from contexts of an agent, and is sealed under the same key."""
RESULTS_SQL = """
SELECT prune_sealed_results(agent_id) FROM recall_results
WHERE id = ANY(%s) AND NOT EXISTS (SELECT FROM agents WHERE agents.id = agent_id) GROUP BY agent_id
"""


def owners_needed(owners: Collection[UUID]) -> set[UUID]:
    """Return those of these deleted owners under whose keys something is sealed, and delete what is a remnant alone."""
    needed = owners_in_use(owners)
    if remnants := needed - owners_in_use(needed, but=REMNANTS):
        _delete(remnants)
    return needed - remnants


@transaction.atomic
def _delete(owners: Collection[UUID]) -> None:
    Alert.everything.filter(id__in=ids_sealed_under(owners, "alerts")).delete()
    Proposal.everything.filter(id__in=ids_sealed_under(owners, "proposals")).delete()
    fetch_rows(RESULTS_SQL, [ids_sealed_under(owners, "recall_results")])
