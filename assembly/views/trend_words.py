"""The sentences of trends: what happened, before any number is shown."""

from collections.abc import Mapping

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from assembly.engine.codes import Code
from assembly.trends.reading import Day
from assembly.warnings import label_of

LAYERS = {
    "L1": gettext_lazy("Identity and Instructions"),
    "L2": gettext_lazy("Team Goals, Context, Rules"),
    "L3": gettext_lazy("Recent Activity"),
    "L4": gettext_lazy("Team Knowledge"),
    "L5": gettext_lazy("Personal Memories"),
    "L6": gettext_lazy("Situation"),
    "L7": gettext_lazy("Knowledge Base"),
}
REASONS = (
    ("no-room", gettext_lazy("no room"), {Code.OVER_SECTION_BUDGET, Code.OVER_TOTAL_BUDGET}),
    ("outranked", gettext_lazy("outranked"), {Code.OUTRANKED}),
    ("off-topic", gettext_lazy("off topic"), {Code.BELOW_RELEVANCE}),
    ("said", gettext_lazy("said already"), {Code.DUPLICATE, Code.SUPERSEDED, Code.CONFLICT_LOST}),
    ("ruled", gettext_lazy("by a rule or a filter"), {Code.RULE_EXCLUDED, Code.FILTERED}),
    ("retired", gettext_lazy("retired"), {Code.EXPIRED}),
)
"""What is left out for much the same reason: how it is coloured, what it is called, and its codes."""


def percent(share: float) -> str:
    """A share of one, in percent: exact enough to tell little from nothing."""
    return f"{100 * share:.1f} %" if 0 < share < 0.1 else f"{100 * share:.0f} %"  # noqa: PLR2004 - below 10 %


def tokens_told(total: Day) -> str:
    """How large contexts were, and what took the most of them."""
    tally = total.tally
    if not tally.layers:
        return _("Nothing was told.")
    layer, most = max(tally.layers.items(), key=lambda item: item[1])
    facts = {
        "tokens": f"{tally.tokens / tally.contexts:,.0f}",
        "budget": f"{tally.budget / tally.contexts:,.0f}",
        "layer": LAYERS.get(layer, layer),
        "share": percent(most / max(tally.tokens, 1)),
    }
    return (
        _("A context took %(tokens)s of %(budget)s tokens on average. The most went to %(layer)s: %(share)s.") % facts
    )


def cut_told(total: Day, names: Mapping[str, str]) -> str:
    """Which files were cut."""
    cut = total.tally.cut
    if not cut:
        return _("No file was cut.")
    thing, contexts = cut.most_common(1)[0]
    facts = {"name": names[thing], "n": f"{contexts:,}", "of": f"{total.tally.contexts:,}", "files": len(cut)}
    if len(cut) == 1:
        return _("%(name)s was cut, in %(n)s of %(of)s contexts.") % facts
    return _("%(files)s files were cut; %(name)s most often, in %(n)s of %(of)s contexts.") % facts


def left_out_told(total: Day) -> str:
    """How much was left out, and why most of it was."""
    tally = total.tally
    out = sum(tally.left_out.values())
    if not out:
        return _("Nothing that was considered was left out.")
    counts = {label: sum(tally.left_out[code.value] for code in codes) for _tone, label, codes in REASONS}
    reason = max(counts, key=lambda label: counts[label])
    facts = {"share": percent(out / tally.considered), "reason": reason, "part": percent(counts[reason] / out)}
    return _("%(share)s of what was considered was left out. The main reason: %(reason)s, %(part)s of it.") % facts


def late_told(total: Day) -> str:
    """Which sources were late or failed."""
    late, failed = sum(total.tally.late.values()), sum(total.tally.failed.values())
    if not late + failed:
        return _("All sources answered in time.")
    name = (total.tally.late + total.tally.failed).most_common(1)[0][0]
    facts = {
        "late": ngettext("%(n)s time", "%(n)s times", late) % {"n": f"{late:,}"},
        "failed": ngettext("%(n)s time", "%(n)s times", failed) % {"n": f"{failed:,}"},
        "name": label_of(name),
    }
    return _("A source was late %(late)s and failed %(failed)s; %(name)s most often.") % facts


def duration_told(total: Day) -> str:
    """How long people and agents waited."""
    half, most = total.within_ms(0.5), total.within_ms(0.95)
    if half is None or most is None:
        return _("Nobody waited for a context.")
    return _("Half of the contexts were ready within %(half)s ms, 95 of 100 within %(most)s ms.") % {
        "half": f"{half:,}",
        "most": f"{most:,}",
    }


def unused_told(kept: int, unused: int, days: int) -> str:
    """How many memories did nobody any good."""
    facts = {"kept": f"{kept:,}", "n": f"{unused:,}", "days": days}
    if not kept:
        return _("No memories are kept yet.")
    if not unused:
        return _("Every memory was told in the last %(days)s days.") % facts
    told = ngettext(
        "One memory of %(kept)s was in no context in the last %(days)s days.",
        "%(n)s of %(kept)s memories were in no context in the last %(days)s days.",
        unused,
    )
    return told % facts
