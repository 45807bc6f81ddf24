"""The sentences and charts of the page of trends."""

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from agents.models import AgentFile
from assembly.engine.codes import Code
from assembly.engine.refs import Ref
from assembly.monitoring.trends.charts import Chart, ChartSeries, chart_of
from assembly.monitoring.trends.reading import DayCounts, Trend
from assembly.records.warnings import recorded_source_label
from teams.models import TeamFile

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


def tokens_sentence(total: DayCounts) -> str:
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


def cut_sentence(total: DayCounts, names: Mapping[str, str]) -> str:
    """Which files were cut."""
    cut = total.tally.cut
    if not cut:
        return _("No file was cut.")
    thing, contexts = cut.most_common(1)[0]
    facts = {"name": names[thing], "n": f"{contexts:,}", "of": f"{total.tally.contexts:,}", "files": len(cut)}
    if len(cut) == 1:
        return _("%(name)s was cut, in %(n)s of %(of)s contexts.") % facts
    return _("%(files)s files were cut; %(name)s most often, in %(n)s of %(of)s contexts.") % facts


def left_out_sentence(total: DayCounts) -> str:
    """How much was left out, and why most of it was."""
    tally = total.tally
    out = sum(tally.left_out.values())
    if not out:
        return _("Nothing that was considered was left out.")
    counts = {label: sum(tally.left_out[code.value] for code in codes) for _tone, label, codes in REASONS}
    reason = max(counts, key=lambda label: counts[label])
    facts = {"share": percent(out / tally.considered), "reason": reason, "part": percent(counts[reason] / out)}
    return _("%(share)s of what was considered was left out. The main reason: %(reason)s, %(part)s of it.") % facts


def late_sentence(total: DayCounts) -> str:
    """Which sources were late or failed."""
    late, failed = sum(total.tally.late.values()), sum(total.tally.failed.values())
    if not late + failed:
        return _("All sources answered in time.")
    name = (total.tally.late + total.tally.failed).most_common(1)[0][0]
    facts = {
        "late": ngettext("%(n)s time", "%(n)s times", late) % {"n": f"{late:,}"},
        "failed": ngettext("%(n)s time", "%(n)s times", failed) % {"n": f"{failed:,}"},
        "name": recorded_source_label(name),
    }
    return _("A source was late %(late)s and failed %(failed)s; %(name)s most often.") % facts


def duration_sentence(total: DayCounts) -> str:
    """How long people and agents waited."""
    half, most = total.duration_percentile_ms(0.5), total.duration_percentile_ms(0.95)
    if half is None or most is None:
        return _("Nobody waited for a context.")
    return _("Half of the contexts were ready within %(half)s ms, 95 of 100 within %(most)s ms.") % {
        "half": f"{half:,}",
        "most": f"{most:,}",
    }


def unused_sentence(kept: int, unused: int, days: int) -> str:
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


P50, P95 = 0.5, 0.95

Address = Callable[[datetime.date], str]


@dataclass(frozen=True, slots=True)
class TroubledRow:
    """A file or a source in a list, and how often it had trouble. `address` is empty for what has no page."""

    name: str
    times: int
    address: str = ""


def charts(trend: Trend, asked: Mapping[str, str], names: Mapping[str, TroubledRow]) -> list[Chart]:
    """All charts; `asked` says in the addresses of lists whose contexts they are, `names` are the files' by refs."""
    days, total = trend.days, trend.total

    def listed(**more: str) -> Address:
        return lambda day: f"{reverse('context_list')}?{urlencode({**asked, 'since': day, 'until': day, **more})}"

    return [
        chart_of(
            key="tokens",
            heading=_("Tokens by layer"),
            told=tokens_sentence(total),
            days=days,
            parts=[ChartSeries(f"{label} ({layer})", layer.lower(), _mean(layer)) for layer, label in LAYERS.items()],
            worded=_tokens,
            address=listed(),
        ),
        chart_of(
            key="cut",
            heading=_("Files cut"),
            told=cut_sentence(total, {thing: named.name for thing, named in names.items()}),
            days=days,
            parts=[ChartSeries(_("cut"), "cut", lambda day: sum(day.tally.cut.values()))],
            worded=_number,
            address=listed(reason=Code.TRUNCATED.value),
        ),
        chart_of(
            key="left-out",
            heading=_("Left out, by reason"),
            told=left_out_sentence(total),
            days=days,
            parts=[ChartSeries(str(label), tone, _share(codes)) for tone, label, codes in REASONS],
            worded=percent,
            address=listed(),
        ),
        chart_of(
            key="late",
            heading=_("Sources that were late or failed"),
            told=late_sentence(total),
            days=days,
            parts=[
                ChartSeries(_("late"), "late", lambda day: sum(day.tally.late.values())),
                ChartSeries(_("failed"), "failed", lambda day: sum(day.tally.failed.values())),
            ],
            worded=_number,
            address=listed(),
        ),
        chart_of(
            key="duration",
            heading=_("How long it took"),
            told=duration_sentence(total),
            days=days,
            parts=[
                ChartSeries(_("half are ready within"), "half", lambda day: day.duration_percentile_ms(P50) or 0),
                ChartSeries(_("and 95 of 100 that much later"), "most", _rest),
            ],
            worded=_milliseconds,
            address=listed(),
            clips_peaks=True,
        ),
    ]


def files_cut(total: DayCounts) -> dict[str, TroubledRow]:
    """The files that were cut by what their refs name, those that were most often first."""
    cut = total.tally.cut
    found = {**_agent_files(cut), **_team_files(cut)}
    return {thing: found.get(thing, TroubledRow(_("A file that is gone"), times)) for thing, times in cut.most_common()}


def sources_in_trouble(total: DayCounts) -> list[TroubledRow]:
    """The sources that were late or failed, those that were most often first."""
    times = total.tally.late + total.tally.failed
    return [TroubledRow(recorded_source_label(name), number) for name, number in times.most_common()]


def _agent_files(cut: Mapping[str, int]) -> dict[str, TroubledRow]:
    rows = AgentFile.objects.filter(id__in=_ids(cut, "agent_file")).select_related("agent").defer("content")
    return {
        f"agent_file:{row.id}": TroubledRow(
            _("%(file)s of %(owner)s") % {"file": row.get_file_key_display(), "owner": row.agent.name},
            cut[f"agent_file:{row.id}"],
            reverse("agent_file", args=[row.agent.slug, row.file_key]),
        )
        for row in rows
    }


def _team_files(cut: Mapping[str, int]) -> dict[str, TroubledRow]:
    rows = TeamFile.objects.filter(id__in=_ids(cut, "team_file")).select_related("team").defer("content")
    return {
        f"team_file:{row.id}": TroubledRow(
            _("%(file)s of %(owner)s") % {"file": row.get_file_key_display(), "owner": row.team.name},
            cut[f"team_file:{row.id}"],
            reverse("team_file", args=[row.team.slug, row.file_key]),
        )
        for row in rows
    }


def _ids(cut: Mapping[str, int], kind: str) -> list[UUID]:
    return [UUID(ref.id) for ref in map(Ref.parse, cut) if ref.kind == kind]


def _mean(layer: str) -> Callable[[DayCounts], float]:
    return lambda day: day.tally.layers[layer] / day.tally.contexts if day.tally.contexts else 0


def _share(codes: set[Code]) -> Callable[[DayCounts], float]:
    return lambda day: sum(day.tally.left_out[code.value] for code in codes) / max(day.tally.considered, 1)


def _rest(day: DayCounts) -> float:
    return (day.duration_percentile_ms(P95) or 0) - (day.duration_percentile_ms(P50) or 0)


def _tokens(number: float) -> str:
    return _("%(n)s tokens") % {"n": f"{number:,.0f}"}


def _number(number: float) -> str:
    return f"{number:,.0f}"


def _milliseconds(number: float) -> str:
    return _("%(n)s ms") % {"n": f"{number:,.0f}"}
