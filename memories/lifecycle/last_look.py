"""What earlier runs have looked at, so that a run reads only what is new or due; once a day, a run reads everything.

It also reads everything after a policy was saved, an age threshold was adjusted, or a person undid what a run did:
other things may be due then.
"""

import datetime
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memories.lifecycle.kv_policies import REBALANCE, last_report
from memories.lifecycle.undone_moves import UNDONE
from memories.models import KVPolicyVersion

if TYPE_CHECKING:
    from memories.lifecycle.hourly_run import LifecycleRun

LOOKED = "looked"
WHOLE_EVERY = datetime.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Look:
    """What an earlier run has looked at: all things that were there at `until`, a real time.

    `whole_at` is the moment of the last run that read everything, `whole_begun` the real time when it began, and
    `stored_bytes` the size of all hot and warm things as far as it is known.
    """

    until: datetime.datetime
    whole_at: datetime.datetime
    whole_begun: datetime.datetime
    stored_bytes: int | None


def last_look(now: datetime.datetime) -> Look | None:
    """Return what was looked at until now; None if the run of the moment `now` has to read everything."""
    report = last_report(LOOKED)
    if report is None:
        return None
    until, at, begun = (datetime.datetime.fromisoformat(report.detail[name]) for name in ("until", "whole", "begun"))
    if not at <= now < at + WHOLE_EVERY:
        return None
    changes = (last_report(REBALANCE), last_report(UNDONE), KVPolicyVersion.objects.order_by("-created").first())
    if any(one and one.created > begun for one in changes):
        return None
    return Look(until, at, begun, report.detail["bytes"])


def store_look(run: "LifecycleRun", begun: datetime.datetime, look: Look | None, stored_bytes: int | None) -> None:
    """Store that the run looked at everything that was new or due when it began, or, without a look, at everything."""
    whole_at, whole_begun = (look.whole_at, look.whole_begun) if look else (run.at, begun)
    detail = {"until": begun.isoformat(), "whole": whole_at.isoformat(), "begun": whole_begun.isoformat()}
    run.report(LOOKED, [], begun, {**detail, "bytes": stored_bytes})
