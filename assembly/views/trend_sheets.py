"""The charts that the page of trends has, of what was counted."""

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext as _

from agents.models import AgentFile
from assembly.engine.codes import Code
from assembly.trends.reading import Day, Trend
from assembly.views.trend_charts import Chart, Part, chart_of
from assembly.views.trend_words import (
    LAYERS,
    REASONS,
    cut_told,
    duration_told,
    late_told,
    left_out_told,
    percent,
    tokens_told,
)
from assembly.warnings import label_of
from teams.models import TeamFile

HALF, MOST = 0.5, 0.95

Address = Callable[[datetime.date], str]


@dataclass(frozen=True, slots=True)
class Named:
    """A file or a source in a list, and how often it had trouble. `address` is empty for what has no page."""

    name: str
    times: int
    address: str = ""


def charts(trend: Trend, asked: Mapping[str, str], names: Mapping[str, Named]) -> list[Chart]:
    """All charts; `asked` says in the addresses of lists whose contexts they are, `names` are the files' by refs."""
    days, total = trend.days, trend.total

    def listed(**more: str) -> Address:
        return lambda day: f"{reverse('context_list')}?{urlencode({**asked, 'since': day, 'until': day, **more})}"

    return [
        chart_of(
            key="tokens",
            heading=_("Tokens by layer"),
            told=tokens_told(total),
            days=days,
            parts=[Part(f"{label} ({layer})", layer.lower(), _mean(layer)) for layer, label in LAYERS.items()],
            worded=_tokens,
            address=listed(),
        ),
        chart_of(
            key="cut",
            heading=_("Files cut"),
            told=cut_told(total, {thing: named.name for thing, named in names.items()}),
            days=days,
            parts=[Part(_("cut"), "cut", lambda day: sum(day.tally.cut.values()))],
            worded=_number,
            address=listed(reason=Code.TRUNCATED.value),
        ),
        chart_of(
            key="left-out",
            heading=_("Left out, by reason"),
            told=left_out_told(total),
            days=days,
            parts=[Part(str(label), tone, _share(codes)) for tone, label, codes in REASONS],
            worded=percent,
            address=listed(),
        ),
        chart_of(
            key="late",
            heading=_("Sources that were late or failed"),
            told=late_told(total),
            days=days,
            parts=[
                Part(_("late"), "late", lambda day: sum(day.tally.late.values())),
                Part(_("failed"), "failed", lambda day: sum(day.tally.failed.values())),
            ],
            worded=_number,
            address=listed(),
        ),
        chart_of(
            key="duration",
            heading=_("How long it took"),
            told=duration_told(total),
            days=days,
            parts=[
                Part(_("half are ready within"), "half", lambda day: day.within_ms(HALF) or 0),
                Part(_("and 95 of 100 that much later"), "most", _rest),
            ],
            worded=_milliseconds,
            address=listed(),
            cuts_peaks=True,
        ),
    ]


def files_cut(total: Day) -> dict[str, Named]:
    """The files that were cut by what their refs name, those that were most often first."""
    cut = total.tally.cut
    found = {**_agent_files(cut), **_team_files(cut)}
    return {thing: found.get(thing, Named(_("A file that is gone"), times)) for thing, times in cut.most_common()}


def sources_in_trouble(total: Day) -> list[Named]:
    """The sources that were late or failed, those that were most often first."""
    times = total.tally.late + total.tally.failed
    return [Named(label_of(name), number) for name, number in times.most_common()]


def _agent_files(cut: Mapping[str, int]) -> dict[str, Named]:
    rows = AgentFile.objects.filter(id__in=_ids(cut, "agent_file")).select_related("agent").defer("content")
    return {
        f"agent_file:{row.id}": Named(
            _("%(file)s of %(owner)s") % {"file": row.get_file_key_display(), "owner": row.agent.name},
            cut[f"agent_file:{row.id}"],
            reverse("agent_file", args=[row.agent.slug, row.file_key]),
        )
        for row in rows
    }


def _team_files(cut: Mapping[str, int]) -> dict[str, Named]:
    rows = TeamFile.objects.filter(id__in=_ids(cut, "team_file")).select_related("team").defer("content")
    return {
        f"team_file:{row.id}": Named(
            _("%(file)s of %(owner)s") % {"file": row.get_file_key_display(), "owner": row.team.name},
            cut[f"team_file:{row.id}"],
            reverse("team_file", args=[row.team.slug, row.file_key]),
        )
        for row in rows
    }


def _ids(cut: Mapping[str, int], kind: str) -> list[UUID]:
    return [UUID(thing.partition(":")[2]) for thing in cut if thing.startswith(f"{kind}:")]


def _mean(layer: str) -> Callable[[Day], float]:
    return lambda day: day.tally.layers[layer] / day.tally.contexts if day.tally.contexts else 0


def _share(codes: set[Code]) -> Callable[[Day], float]:
    return lambda day: sum(day.tally.left_out[code.value] for code in codes) / max(day.tally.considered, 1)


def _rest(day: Day) -> float:
    return (day.within_ms(MOST) or 0) - (day.within_ms(HALF) or 0)


def _tokens(number: float) -> str:
    return _("%(n)s tokens") % {"n": f"{number:,.0f}"}


def _number(number: float) -> str:
    return f"{number:,.0f}"


def _milliseconds(number: float) -> str:
    return _("%(n)s ms") % {"n": f"{number:,.0f}"}
