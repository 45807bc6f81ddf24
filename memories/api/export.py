"""REST: exports of a team, an agent or everything, as a zip of Markdown."""

from typing import Any

from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from agents.access import agent_for
from config.http.rendering import FastJSONRenderer
from memories.bundle.download import download_of
from memories.bundle.scopes import scope_of_agent, scope_of_everything, scope_of_team
from teams.access import team_for
from teams.api.view import ApiView

ZIP = "application/zip"
ANSWER: Any = {(200, ZIP): OpenApiTypes.BINARY}


class ZipRenderer(FastJSONRenderer):
    """Lets clients ask for a zip; what goes wrong is told in JSON all the same."""

    media_type = ZIP
    format = "zip"


class ExportView(ApiView):
    renderer_classes = [FastJSONRenderer, ZipRenderer]


class TeamExport(ExportView):
    @extend_schema(operation_id="teams_export", responses=ANSWER)
    def get(self, request: Request, slug: str) -> HttpResponseBase:
        """A team's files and memories as a zip of Markdown. The same data gives the same bytes."""
        self.query()
        return download_of(scope_of_team(team_for(self.principal, slug), self.principal))


class AgentExport(ExportView):
    @extend_schema(operation_id="agents_export", responses=ANSWER)
    def get(self, request: Request, slug: str) -> HttpResponseBase:
        """An agent's files, daily logs and memories as a zip of Markdown. The same data gives the same bytes."""
        self.query()
        return download_of(scope_of_agent(agent_for(self.principal, slug), self.principal))


class Export(ExportView):
    @extend_schema(operation_id="export", responses=ANSWER)
    def get(self, request: Request) -> HttpResponseBase:
        """Everything as a zip of Markdown. For organisation admins and admin keys."""
        self.query()
        return download_of(scope_of_everything(self.principal))
