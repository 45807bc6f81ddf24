"""This module has the sentences and charts of the page of trends."""

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from agents.models import AgentFile
from assembly.contexts.search.criteria import ANY_FILE
from assembly.engine.codes import Code
from assembly.engine.refs import Ref
from assembly.monitoring.trends.charts import Chart, ChartSeries, chart_of
from assembly.monitoring.trends.reading import DayCounts, FileLossDay, Trend
from assembly.records.warnings import recorded_source_label
from teams.models import TeamFile

LAYERS = {
    "L1": gettext_lazy("Identity and Instructions"),
    "L2": gettext_lazy("Team goals, background, guidelines"),
    "L3": gettext_lazy("Daily logs"),
    "L4": gettext_lazy("Team memories"),
    "L5": gettext_lazy("Agent memories"),
    "L6": gettext_lazy("Situation"),
    "L7": gettext_lazy("Knowledge"),
}
REASONS = (
    ("no-room", gettext_lazy("over limit"), {Code.OVER_SECTION_BUDGET, Code.OVER_TOTAL_BUDGET}),
    ("outranked", gettext_lazy("low rank"), {Code.OUTRANKED}),
    ("off-topic", gettext_lazy("low relevance"), {Code.BELOW_RELEVANCE}),
    ("untrusted", gettext_lazy("untrusted origin"), {Code.UNTRUSTED_ORIGIN}),
    ("said", gettext_lazy("duplicate"), {Code.DUPLICATE, Code.SUPERSEDED, Code.CONFLICT_LOST}),
    ("ruled", gettext_lazy("rule or filter"), {Code.RULE_EXCLUDED, Code.FILTERED}),
    ("retired", gettext_lazy("archived"), {Code.EXPIRED}),
)
"""Groups of reasons for exclusion: CSS class, name, and decision codes."""


def percent(share: float) -> str:
    """Return a share as a percentage, with enough digits that small shares differ from 0."""
    return f"{100 * share:.1f} %" if 0 < share < 0.1 else f"{100 * share:.0f} %"  # noqa: PLR2004 - below 10 %


def tokens_sentence(total: DayCounts) -> str:
    """Return a sentence on how large contexts were, and what used most of the tokens."""
    tally = total.tally
    if not tally.layers:
        return _("No tokens were used.")
    layer, most = max(tally.layers.items(), key=lambda item: item[1])
    facts = {
        "tokens": f"{tally.tokens / tally.contexts:,.0f}",
        "budget": f"{tally.budget / tally.contexts:,.0f}",
        "layer": LAYERS.get(layer, layer),
        "share": percent(most / max(tally.tokens, 1)),
    }
    return (
        _("Contexts used %(tokens)s of %(budget)s tokens on average. The largest part is %(layer)s: %(share)s.") % facts
    )


def cut_sentence(total: DayCounts, names: Mapping[str, str]) -> str:
    """Return a sentence on which files were truncated or excluded."""
    cut = total.tally.cut
    if not cut:
        return _("No file was over its limit.")
    thing, contexts = cut.most_common(1)[0]
    facts = {"name": names[thing], "n": f"{contexts:,}", "of": f"{total.tally.contexts:,}", "files": len(cut)}
    if len(cut) == 1:
        return _("%(name)s was truncated or excluded in %(n)s of %(of)s contexts.") % facts
    return _("%(files)s files were truncated or excluded; %(name)s most often, in %(n)s of %(of)s contexts.") % facts


def left_out_sentence(total: DayCounts) -> str:
    """Return a sentence on how much was excluded, and the most frequent reasons."""
    tally = total.tally
    out = sum(tally.left_out.values())
    if not out:
        return _("No candidate was excluded.")
    counts = {label: sum(tally.left_out[code.value] for code in codes) for _tone, label, codes in REASONS}
    reason = max(counts, key=lambda label: counts[label])
    facts = {"share": percent(out / tally.considered), "reason": reason, "part": percent(counts[reason] / out)}
    return _("%(share)s of the candidates were excluded. The main reason is %(reason)s: %(part)s.") % facts


def late_sentence(total: DayCounts) -> str:
    """Return a sentence on which sources timed out or failed."""
    late, failed = sum(total.tally.late.values()), sum(total.tally.failed.values())
    if not late + failed:
        return _("All sources answered in time.")
    name = (total.tally.late + total.tally.failed).most_common(1)[0][0]
    facts = {
        "late": ngettext("%(n)s time", "%(n)s times", late) % {"n": f"{late:,}"},
        "failed": ngettext("%(n)s time", "%(n)s times", failed) % {"n": f"{failed:,}"},
        "name": recorded_source_label(name),
    }
    return _("Sources timed out %(late)s and failed %(failed)s; %(name)s most often.") % facts


def duration_sentence(total: DayCounts) -> str:
    """Return a sentence on how long callers waited."""
    half, most = total.duration_percentile_ms(0.5), total.duration_percentile_ms(0.95)
    if half is None or most is None:
        return _("No contexts were requested.")
    return _("p50: %(half)s ms, p95: %(most)s ms.") % {
        "half": f"{half:,}",
        "most": f"{most:,}",
    }


def unused_sentence(kept: int, unused: int, days: int) -> str:
    """Return a sentence on how many memories were never included."""
    facts = {"kept": f"{kept:,}", "n": f"{unused:,}", "days": days}
    if not kept:
        return _("No memories yet.")
    if not unused:
        return _("Every memory was included in the last %(days)s days.") % facts
    told = ngettext(
        "1 of %(kept)s memories was not included in the last %(days)s days.",
        "%(n)s of %(kept)s memories were not included in the last %(days)s days.",
        unused,
    )
    return told % facts


QUALITY_MEASURES = (
    ("coherence_score", gettext_lazy("Coherence")),
    ("completeness", gettext_lazy("Completeness")),
    ("contradiction_rate", gettext_lazy("Contradictions")),
    ("quality_achieved", gettext_lazy("Relevance")),
)
"""The measures of quality that have charts, by their names in the API. docs/quality.md has their formulas."""


def quality_sentence(total: DayCounts, measure: str) -> str:
    """Return a sentence on the mean of a measure of quality over all contexts of which it is known."""
    mean = total.tally.mean_quality(measure)
    if mean is None:
        return _("Not known of any context.")
    facts = {"mean": share_of_one(mean), "n": f"{total.tally.quality_counts[measure]:,}"}
    return _("%(mean)s on average, measured in %(n)s contexts.") % facts


def share_of_one(value: float) -> str:
    """Return a measure of 0 to 1 with two decimals."""
    return f"{value:.2f}"


P50, P95 = 0.5, 0.95

Address = Callable[[datetime.date], str]


@dataclass(frozen=True, slots=True)
class TroubledRow:
    """A file or a source in a list, with the number of its problems. `address` is empty if it has no page."""

    name: str
    times: int
    address: str = ""


def charts(trend: Trend, asked: Mapping[str, str], names: Mapping[str, TroubledRow]) -> list[Chart]:
    """Return all charts; `asked` are query parameters of the linked lists, `names` the names of files by ref."""
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
            heading=_("Contexts with a file over its limit"),
            told=cut_sentence(total, {thing: named.name for thing, named in names.items()}),
            days=days,
            parts=[ChartSeries(_("truncated or excluded"), "cut", lambda day: day.tally.contexts_with_file_loss)],
            worded=_number,
            address=listed(file_loss=ANY_FILE),
        ),
        chart_of(
            key="left-out",
            heading=_("Excluded items by reason"),
            told=left_out_sentence(total),
            days=days,
            parts=[ChartSeries(str(label), tone, _share(codes)) for tone, label, codes in REASONS],
            worded=percent,
            address=listed(),
        ),
        chart_of(
            key="late",
            heading=_("Sources that timed out or failed"),
            told=late_sentence(total),
            days=days,
            parts=[
                ChartSeries(_("timed out"), "late", lambda day: sum(day.tally.late.values())),
                ChartSeries(_("failed"), "failed", lambda day: sum(day.tally.failed.values())),
            ],
            worded=_number,
            address=listed(),
        ),
        chart_of(
            key="duration",
            heading=_("Duration"),
            told=duration_sentence(total),
            days=days,
            parts=[
                ChartSeries(_("p50"), "half", lambda day: day.duration_percentile_ms(P50) or 0),
                ChartSeries(_("up to p95"), "most", _rest),
            ],
            worded=_milliseconds,
            address=listed(),
            clips_peaks=True,
        ),
        *(
            chart_of(
                key=measure.replace("_", "-"),
                heading=str(heading),
                told=quality_sentence(total, measure),
                days=days,
                parts=[ChartSeries(_("mean per day"), "half", _mean_quality(measure))],
                worded=share_of_one,
                address=listed(),
            )
            for measure, heading in QUALITY_MEASURES
        ),
    ]


def files_over_limit(total: DayCounts) -> dict[str, TroubledRow]:
    """Return the files that were truncated or excluded, by their refs without versions, the most frequent first."""
    return _named_files(dict(total.tally.cut.most_common()))


@dataclass(frozen=True, slots=True)
class FileLossRow:
    """A file on a day in the table of losses. `address` is that of the list of exactly these contexts."""

    loss: FileLossDay
    name: str
    address: str


def file_loss_rows(losses: Sequence[FileLossDay], asked: Mapping[str, str]) -> list[FileLossRow]:
    """Return the rows of the table of losses; `asked` are query parameters of the linked lists."""
    names = _named_files({loss.ref: loss.contexts for loss in losses})
    return [
        FileLossRow(
            loss,
            names[loss.ref].name,
            f"{reverse('context_list')}?"
            + urlencode({**asked, "since": loss.day, "until": loss.day, "file_loss": loss.ref}),
        )
        for loss in losses
    ]


def _named_files(times: Mapping[str, int]) -> dict[str, TroubledRow]:
    found = {**_agent_files(times), **_team_files(times)}
    return {ref: found.get(ref, TroubledRow(_("A deleted file"), number)) for ref, number in times.items()}


def sources_in_trouble(total: DayCounts) -> list[TroubledRow]:
    """Return the sources that timed out or failed, the most frequent first."""
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


def _mean_quality(measure: str) -> Callable[[DayCounts], float]:
    return lambda day: day.tally.mean_quality(measure) or 0.0


def _rest(day: DayCounts) -> float:
    return (day.duration_percentile_ms(P95) or 0) - (day.duration_percentile_ms(P50) or 0)


def _tokens(number: float) -> str:
    return _("%(n)s tokens") % {"n": f"{number:,.0f}"}


def _number(number: float) -> str:
    return f"{number:,.0f}"


def _milliseconds(number: float) -> str:
    return _("%(n)s ms") % {"n": f"{number:,.0f}"}
