"""REST endpoints of an agent's daily logs."""

import datetime

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from agents.access import agent_for
from agents.api.serializers import DailyLogSerializer, ParagraphSerializer
from agents.models import Agent, DailyLog
from agents.services import daily_log_append, daily_log_create, daily_log_delete, daily_log_replace
from config.http.errors import Invalid, NotFound
from config.http.etags import PreconditionFailed, PreconditionRequired, is_create_only
from config.http.idempotency import idempotent
from config.http.openapi import ETAG, IF_MATCH, IF_NONE_MATCH, LOCATION, ONLY_CREATE, PAGE
from config.http.serializers import INVALID_DATE, parse_date
from teams.api.serializers import ContentSerializer, VersionContentSerializer, VersionSerializer, page_serializer
from teams.api.view import ApiView
from teams.principal import Action
from teams.versioned_text.api import VersionedView, VersionList
from teams.versioned_text.serializers import WITH, ComparisonSerializer, comparison_document

DATE = OpenApiParameter("date", datetime.date, OpenApiParameter.PATH)


def log_of(agent: Agent, date: datetime.date) -> DailyLog:
    """Return the log of the day. Raises NotFound."""
    log = agent.daily_logs.filter(date=date).first()
    if log is None:
        raise NotFound(f"The daily log of {date}")
    return log


def parse_log_date(text: str, field: str = "date") -> datetime.date:
    """Return the date in the text. Raises Invalid."""
    date = parse_date(text)
    if date is None:
        raise Invalid(field, INVALID_DATE)
    return date


class DailyLogList(ApiView):
    @extend_schema(
        parameters=[
            OpenApiParameter("since", datetime.date, description="Of this day and later."),
            OpenApiParameter("until", datetime.date, description="Of this day and earlier."),
            *PAGE,
        ],
        responses=page_serializer(DailyLogSerializer),
    )
    def get(self, request: Request, slug: str) -> Response:
        """Return the agent's daily logs, newest day first."""
        query = self.query("since", "until", "cursor", "limit")
        logs = agent_for(self.principal, slug).daily_logs.all()
        for name, comparison in (("since", "date__gte"), ("until", "date__lte")):
            if name in query:
                logs = logs.filter(**{comparison: parse_log_date(query[name], name)})
        return self.page(logs, lambda log: dict(DailyLogSerializer(log).data), ("date",), query=query)


class DailyLogDetail(VersionedView):
    document = DailyLogSerializer

    @extend_schema(parameters=[DATE, ETAG, IF_NONE_MATCH], responses=DailyLogSerializer)
    def get(self, request: Request, slug: str, date: str) -> Response:
        """Return the log of a day."""
        self.query()
        agent = agent_for(self.principal, slug)
        return self.answer_if_newer(log_of(agent, parse_log_date(date)))

    @extend_schema(
        parameters=[DATE, ETAG, LOCATION],
        request=ParagraphSerializer,
        responses={200: DailyLogSerializer, 201: DailyLogSerializer},
    )
    @idempotent
    def post(self, request: Request, slug: str, date: str) -> Response:
        """Append a paragraph after a blank line. The first paragraph creates the log (201)."""
        self.query()
        agent, day = agent_for(self.principal, slug, Action.WRITE), parse_log_date(date)
        text = self.validated(ParagraphSerializer)["text"]
        log = daily_log_append(agent=agent, date=day, text=text, principal=self.principal)
        return self._made(log) if log.version == 1 else self.answer(log)

    @extend_schema(
        parameters=[DATE, ETAG, LOCATION, IF_MATCH, ONLY_CREATE],
        request=ContentSerializer,
        responses={200: DailyLogSerializer, 201: DailyLogSerializer},
    )
    def put(self, request: Request, slug: str, date: str) -> Response:
        """Replace the log by a new version. With `If-None-Match: *`, create a log that does not exist yet."""
        self.query()
        agent, day = agent_for(self.principal, slug, Action.WRITE), parse_log_date(date)
        log = agent.daily_logs.filter(date=day).first()
        if is_create_only(request):
            return self._create(agent, day, log)
        if log is None and "If-Match" not in request.headers:
            raise PreconditionRequired("This day has no log yet. Send `If-None-Match: *` to write it.")
        if log is None:
            raise NotFound(f"The daily log of {day}")
        expected = self.expected(log)
        facts = self.validated(ContentSerializer)
        saved = daily_log_replace(log=log, **facts, expected_version=expected, principal=self.principal)
        return self.answer(saved)

    def _create(self, agent: Agent, day: datetime.date, log: DailyLog | None) -> Response:
        if log is not None:
            raise PreconditionFailed("This day has a log already. Read it and send its ETag as If-Match.")
        facts = self.validated(ContentSerializer)
        return self._made(daily_log_create(agent=agent, date=day, **facts, principal=self.principal))

    def _made(self, log: DailyLog) -> Response:
        return self.answer(log, status.HTTP_201_CREATED, Location=self.request.path)

    @extend_schema(parameters=[DATE, IF_MATCH], responses={204: None})
    def delete(self, request: Request, slug: str, date: str) -> Response:
        """Delete the log of a day with its versions."""
        self.query()
        agent = agent_for(self.principal, slug, Action.WRITE)
        log = log_of(agent, parse_log_date(date))
        self.check_if_match(log)
        daily_log_delete(log=log, principal=self.principal)
        return Response(status=status.HTTP_204_NO_CONTENT)


class DailyLogVersionList(VersionList):
    document = VersionSerializer

    @extend_schema(parameters=[DATE, *PAGE], responses=page_serializer(VersionSerializer))
    def get(self, request: Request, slug: str, date: str) -> Response:
        """Return the versions of the log, newest first, without their texts."""
        return self.page_of_versions(log_of(agent_for(self.principal, slug), parse_log_date(date)))


class DailyLogVersionDetail(ApiView):
    @extend_schema(parameters=[DATE], responses=VersionContentSerializer)
    def get(self, request: Request, slug: str, date: str, version: int) -> Response:
        """Return a version of the log with its text."""
        self.query()
        found = log_of(agent_for(self.principal, slug), parse_log_date(date)).versions.filter(version=version).first()
        if found is None:
            raise NotFound(f"Version {version}")
        return Response(VersionContentSerializer(found).data)


class DailyLogVersionCompare(ApiView):
    @extend_schema(parameters=[DATE, WITH], responses=ComparisonSerializer)
    def get(self, request: Request, slug: str, date: str, version: int) -> Response:
        """Return the difference between two versions of the log, word by word."""
        query = self.query("with")
        log = log_of(agent_for(self.principal, slug), parse_log_date(date))
        return Response(comparison_document(log, version, query.get("with", "")))
