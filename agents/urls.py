"""URLs of the pages of agents that need only the app `agents`; the home app adds the page that shows more."""

import datetime

from django.urls import include, path, register_converter

from agents.models import AgentFile
from agents.quotas import views as quotas
from agents.quotas.access import agent_key_subject, agent_subject, key_subject, person_subject, team_subject
from agents.views import agents, files, keys, log_list, logs
from config.http.serializers import parse_date


class AgentFileKeyConverter:
    """A URL converter for the key of an agent's file, in upper case as in the API."""

    regex = "|".join(AgentFile.Key.values)

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


class DateConverter:
    """A URL converter for a day: 2026-03-01."""

    regex = "[0-9]{4}-[0-9]{2}-[0-9]{2}"

    def to_python(self, value: str) -> datetime.date:
        date = parse_date(value)
        if date is None:
            raise ValueError(value)  # so that there is no such address
        return date

    def to_url(self, value: datetime.date) -> str:
        return value.isoformat()


register_converter(AgentFileKeyConverter, "agent_file_key")
register_converter(DateConverter, "date")

file_urls = [
    path("", files.edit, name="agent_file"),
    path("history/", files.history, name="agent_file_history"),
    path("history/compare/", files.compare, name="agent_file_compare"),
    path("history/<int:number>/", files.version, name="agent_file_version"),
    path("history/<int:number>/restore/", files.restore, name="agent_file_restore"),
]
log_urls = [
    path("", logs.read, name="daily_log"),
    path("edit/", logs.edit, name="daily_log_edit"),
    path("history/", logs.history, name="daily_log_history"),
    path("history/compare/", logs.compare, name="daily_log_compare"),
    path("history/<int:number>/", logs.version, name="daily_log_version"),
    path("history/<int:number>/restore/", logs.restore, name="daily_log_restore"),
]

urlpatterns = [
    path("limits/", quotas.limits_list, name="limits"),
    path("teams/<slug:slug>/limits/", quotas.limits_page, {"find": team_subject}, name="team_limits"),
    path("agents/<slug:slug>/limits/", quotas.limits_page, {"find": agent_subject}, name="agent_limits"),
    path(
        "agents/<slug:slug>/keys/<uuid:key_id>/limits/",
        quotas.limits_page,
        {"find": agent_key_subject},
        name="agent_key_limits",
    ),
    path("keys/<uuid:key_id>/limits/", quotas.limits_page, {"find": key_subject}, name="key_limits"),
    path("people/<uuid:id_>/limits/", quotas.limits_page, {"find": person_subject}, name="person_limits"),
    path("agents/", agents.agent_list, name="agent_list"),
    path("agents/new/", agents.agent_new, name="agent_new"),
    path("agents/<slug:slug>/settings/", agents.agent_settings, name="agent_settings"),
    path("agents/<slug:slug>/delete/", agents.agent_delete_view, name="agent_delete"),
    path("agents/<slug:slug>/keys/", keys.agent_keys, name="agent_keys"),
    path("agents/<slug:slug>/keys/<uuid:key_id>/revoke/", keys.agent_key_revoke, name="agent_key_revoke"),
    path("keys/", keys.key_list, name="key_list"),
    path("keys/<uuid:key_id>/revoke/", keys.key_revoke, name="key_revoke"),
    path("teams/<slug:slug>/keys/", keys.team_keys, name="team_keys"),
    path("teams/<slug:slug>/keys/<uuid:key_id>/grant/", keys.team_key_grant, name="team_key_grant"),
    path("teams/<slug:slug>/keys/<uuid:key_id>/withdraw/", keys.team_key_withdraw, name="team_key_withdraw"),
    path("agents/<slug:slug>/files/<agent_file_key:key>/", include(file_urls)),
    path("agents/<slug:slug>/logs/", log_list.logs, name="daily_logs"),
    path("agents/<slug:slug>/logs/<date:date>/", include(log_urls)),
]
