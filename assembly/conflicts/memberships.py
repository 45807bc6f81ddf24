"""Which texts contexts have together changes when an agent joins or leaves a team.

After it joined one, its texts are noted for the comparison with those of the team. Conflicts with a team that it left
wait for nobody (`ConflictQuerySet.waiting`), and wait again when it comes back.
"""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db.models import Model
from django.db.models.signals import m2m_changed
from django.dispatch import receiver
from django.utils import timezone

from agents.models import AgentTeam
from assembly.conflicts.uncompared_items import BEHIND_EDITS
from assembly.models import Alert, AlertKind, Conflict
from assembly.models.monitoring import CONFLICT_PREFIX
from assembly.monitoring.alerts.conflict_alerts import conflict_alerts_close
from assembly.monitoring.alerts.watch import alerts_lock
from config.db.statements import execute_sql

# Texts that contexts do not include, or that search does not find, are noted when they come back. In the order of ids,
# so that two transactions that note the same items wait for each other, and not each for the other.
NOTE_AGENTS_SQL = """
INSERT INTO uncompared_items (item, kind, noted) SELECT item, kind, %(noted)s::timestamptz FROM (
    SELECT id AS item, 'memory' AS kind FROM memories WHERE agent_id = ANY(%(agents)s::uuid[])
        AND superseded_by_id IS NULL AND retired_because = '' AND tier IN ('hot', 'warm')
    UNION ALL SELECT id, 'agent_file' FROM agent_md_files WHERE agent_id = ANY(%(agents)s::uuid[])
    UNION ALL SELECT id, 'document' FROM documents WHERE agent_id = ANY(%(agents)s::uuid[]) AND tier IN ('hot', 'warm')
    UNION ALL SELECT id, 'entity' FROM entities WHERE agent_id = ANY(%(agents)s::uuid[])
) AS mine ORDER BY item ON CONFLICT (item) DO UPDATE
    SET kind = excluded.kind, noted = greatest(uncompared_items.noted, excluded.noted)
"""


@receiver(m2m_changed, sender=AgentTeam)
def membership_changed(action: str, instance: Model, reverse: bool, pk_set: set[UUID] | None, **_: Any) -> None:
    """Note the texts of agents that joined a team, and close the alerts about conflicts with a team that they left."""
    agents, teams = (pk_set, {instance.pk}) if reverse else ({instance.pk}, pk_set)
    if not agents or not teams:
        return
    if action == "post_add":
        execute_sql(NOTE_AGENTS_SQL, {"agents": sorted(agents), "noted": timezone.now() - BEHIND_EDITS})
    elif action == "post_remove":
        _close_alerts(agents, teams)


def _close_alerts(agents: Collection[UUID], teams: Collection[UUID]) -> None:
    """Close the open alerts about conflicts between these agents and teams."""
    is_open = Alert.everything.filter(kind=AlertKind.CONFLICT_OPEN, agent_id__in=agents, closed=None)
    ids = [thing.removeprefix(CONFLICT_PREFIX) for thing in is_open.values_list("thing", flat=True)]
    apart = Conflict.everything.filter(id__in=ids, agent__in=agents, team__in=teams)
    if ids and apart.exists():
        alerts_lock()
        for conflict in apart:
            conflict_alerts_close(conflict)
