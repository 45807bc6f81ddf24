"""REST endpoint of daily statistics of contexts."""

import datetime
from dataclasses import fields
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from agents.access import agent_for
from assembly.engine.quality import ContextQuality
from assembly.monitoring.trends.counting import Tally
from assembly.monitoring.trends.reading import DayCounts, Period, UnusedMemories, find_unused_memories, load_trend
from config.http.errors import Invalid
from config.http.late_reads import may_be_late
from config.http.serializers import parse_date
from teams.access import team_for
from teams.api.view import ApiView

DAYS = 30
NOT_COUNTED = {"durations", "quality_sums", "quality_counts"}
"""Fields of `Tally` of which the answer has percentiles and means."""
COUNTED = tuple(field.name for field in fields(Tally) if field.name not in NOT_COUNTED)
NAMES = {"cut": "file_losses", "left_out": "excluded", "late": "sources_late", "failed": "sources_failed"}
"""Names in the API of counts that have other names in `Tally`."""


class CountsSerializer(serializers.Serializer[Any]):
    contexts = serializers.IntegerField()
    repeats = serializers.IntegerField(help_text="Of these, what said again what was said just before.")
    tokens = serializers.IntegerField()
    budget = serializers.IntegerField(help_text="Tokens allowed, added up.")
    assembly_ms = serializers.IntegerField(help_text="Milliseconds, added up.")
    p50_ms = serializers.IntegerField(allow_null=True, help_text="Half were ready within; to a tenth of itself.")
    p95_ms = serializers.IntegerField(allow_null=True, help_text="95 of 100 were ready within; to a tenth of itself.")
    considered = serializers.IntegerField(help_text="Candidates.")
    layers = serializers.DictField(child=serializers.IntegerField(), help_text="Tokens by layer.")
    contexts_with_file_loss = serializers.IntegerField(
        help_text="Contexts that truncated a file, or excluded it for lack of budget."
    )
    file_losses = serializers.DictField(child=serializers.IntegerField(), help_text="The same by the ref of the file.")
    excluded = serializers.DictField(child=serializers.IntegerField(), help_text="Items by reason code.")
    sources_late = serializers.DictField(child=serializers.IntegerField(), help_text="Contexts without it, by source.")
    sources_failed = serializers.DictField(
        child=serializers.IntegerField(), help_text="Contexts without it, by source."
    )
    warnings = serializers.DictField(child=serializers.IntegerField(), help_text="Contexts by warning code.")
    quality = serializers.DictField(
        child=serializers.FloatField(allow_null=True),
        help_text="Mean of each measure of quality, 0 to 1; null where it is known of no context.",
    )


class DaySerializer(CountsSerializer):
    day = serializers.DateField()


class UnusedMemoriesSerializer(serializers.Serializer[Any]):
    total = serializers.IntegerField(help_text="Active memories.")
    unused = serializers.IntegerField(help_text="Of these, in no context since the first day.")
    oldest_ids = serializers.ListField(child=serializers.UUIDField(), help_text="The oldest of the unused, 10 at most.")


class TrendsSerializer(serializers.Serializer[Any]):
    since = serializers.DateField()
    until = serializers.DateField()
    timezone = serializers.CharField(help_text="By which days are counted.")
    total = CountsSerializer()
    days = DaySerializer(many=True)
    unused_memories = UnusedMemoriesSerializer()


class Trends(ApiView):
    @extend_schema(
        operation_id="trends_read",
        summary="Get daily statistics",
        parameters=[
            OpenApiParameter("agent", str, description="Only of the agent with this slug."),
            OpenApiParameter("team", str, description="Only of the team with this slug."),
            OpenApiParameter("since", datetime.date, description="The first day; 29 days before the last without."),
            OpenApiParameter("until", datetime.date, description="The last day; today without."),
        ],
        responses=TrendsSerializer,
    )
    @may_be_late
    def get(self, request: Request) -> Response:
        """Return statistics of the contexts that you may see, by day (UTC), for at most 366 days."""
        query = self.query("agent", "team", "since", "until")
        agent = agent_for(self.principal, query["agent"]) if "agent" in query else None
        team = team_for(self.principal, query["team"]) if "team" in query else None
        period = _period(_day(query, "since"), _day(query, "until"))
        scope = {"agent_id": agent.id if agent else None, "team_id": team.id if team else None}
        trend = load_trend(self.principal, period, **scope)
        facts = {
            "since": period.since,
            "until": period.until,
            "timezone": "UTC",
            "total": _counts(trend.total),
            "days": [{"day": day.day, **_counts(day)} for day in trend.days],
            "unused_memories": _unused(find_unused_memories(self.principal, period.since, **scope)),
        }
        return Response(TrendsSerializer(facts).data)


def _day(query: dict[str, str], name: str) -> datetime.date | None:
    if name not in query:
        return None
    day = parse_date(query[name])
    if day is None:
        raise Invalid(name, "Use a day that exists, like 2026-02-28.")
    return day


def _period(since: datetime.date | None, until: datetime.date | None) -> Period:
    last = Period.last(DAYS, until)
    return Period(since, last.until) if since else last


def _counts(day: DayCounts) -> dict[str, Any]:
    sums = {NAMES.get(name, name): getattr(day.tally, name) for name in COUNTED}
    quality = {field.name: day.tally.mean_quality(field.name) for field in fields(ContextQuality)}
    percentiles = {"p50_ms": day.duration_percentile_ms(0.5), "p95_ms": day.duration_percentile_ms(0.95)}
    return {**sums, **percentiles, "quality": quality}


def _unused(unused: UnusedMemories) -> dict[str, Any]:
    return {"total": unused.kept, "unused": unused.unused, "oldest_ids": [memory.id for memory in unused.oldest]}
