"""A thing's page says in plain words in which tier it is, since when, how often it was used, and what comes next."""

import datetime
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from django.utils import timezone
from django.utils.translation import gettext_lazy

from memories.lifecycle.kv_policies import PolicyBook
from memories.lifecycle.planned_moves import OwnersPolicies, policy_pins, read_things
from memories.lifecycle.thing_tables import TABLES_BY_MODEL
from memories.lifecycle.tier_decisions import Reason, decide, pinned_by_policy
from memories.lifecycle.tiers import Tier, Tiered
from memories.lifecycle.use_counts import Uses, uses_of
from teams.guidance import Text

MEANINGS: Mapping[Tier, Text] = {
    Tier.HOT: gettext_lazy("Stored as it was written; contexts find it."),
    Tier.WARM: gettext_lazy("Its text is compressed; contexts find it as before."),
    Tier.COLD: gettext_lazy("Its text is compressed, and contexts do not find it. Opening it brings it back."),
    Tier.FROZEN: gettext_lazy(
        "Its text is archived in a file, and contexts do not find it. Opening it brings it back."
    ),
}
NEXT: Mapping[Reason, Text] = {
    Reason.PINNED_BY_PERSON: gettext_lazy("It stays hot while it is pinned, or open in an editor."),
    Reason.PINNED_BY_POLICY: gettext_lazy("The policy keeps it hot until %(due)s."),
    Reason.YOUNG: gettext_lazy(
        "It is compressed after %(due)s, unless enough contexts include it: %(recent)s of %(least)s until now."
    ),
    Reason.USED: gettext_lazy("It stays hot while contexts include it: %(recent)s did lately."),
    Reason.COMPRESS: gettext_lazy("It is compressed by the next run."),
    Reason.WITHIN_SIZE: gettext_lazy("It stays warm while there is room for all of its kind."),
    Reason.WAITING: gettext_lazy("It is archived in a file after %(due)s if nobody uses it."),
    Reason.FREEZE: gettext_lazy("It is archived in a file by the next run."),
    Reason.FROZEN: gettext_lazy("It stays there until it is used. It is never deleted."),
}


@dataclass(frozen=True, slots=True)
class TierDescription:
    """What a page or an endpoint says about the tier of a thing."""

    tier: Tier
    meaning: Text
    since: datetime.datetime
    uses: Uses
    reason: Reason
    due: datetime.datetime | None
    next: str


def describe_tier(thing: Tiered) -> TierDescription | None:
    """Return the description of a stored thing; None where it was deleted meanwhile. Five statements,
    and some more where a pattern matches it."""
    table = TABLES_BY_MODEL[type(thing)]
    now = timezone.now()
    [[*found]] = read_things(table, "thing.id = %(id)s", {"id": thing.pk})
    if not found:
        return None
    policies = OwnersPolicies(PolicyBook(), only=found[0].owner)
    policy = policies.of(found[0])
    since = (now - datetime.timedelta(hours=policy.compress.age_threshold_hours)).date()
    uses = uses_of([thing.pk], since).get(thing.pk, Uses())
    facts = replace(found[0].facts, recent_uses=uses.recent)
    is_pinned = bool(pinned_by_policy([facts], policy, now))  # if there is room for it among those of its owner
    is_pinned = is_pinned and facts.id in policy_pins(table, policies, now, [found[0].owner])
    decided = decide(facts, policy, now, is_pinned=is_pinned)
    words = {
        "due": _moment(decided.due),
        "least": math.ceil(policy.compress.access_threshold),
        "recent": uses.recent,
    }
    sentence = str(NEXT[decided.reason]) % words
    return TierDescription(facts.tier, MEANINGS[facts.tier], facts.since, uses, decided.reason, decided.due, sentence)


def _moment(moment: datetime.datetime | None) -> str:
    return f"{timezone.localtime(moment):%Y-%m-%d %H:%M}" if moment else ""
