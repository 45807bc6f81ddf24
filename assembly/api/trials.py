"""REST: what texts would change in a context, before they are saved."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from agents.access import agent_for
from agents.models import Agent, AgentFile, DailyLog
from assembly.api.comparison_documents import change_document, section_document
from assembly.api.trial_serializers import CONTENT, TrialRequestSerializer, TrialSerializer
from assembly.asked import Asked
from assembly.comparison_words import summary
from assembly.engine.codes import WarningCode
from assembly.engine.reasons import warning_sentence
from assembly.engine.types import Assembled
from assembly.trial import Trial, trial
from config.http.idempotency import idempotent
from teams.access import team_for
from teams.api.view import ApiView
from teams.models import Team, TeamFile


class TrialCreate(ApiView):
    @extend_schema(operation_id="trials_create", request=TrialRequestSerializer, responses=TrialSerializer)
    @idempotent
    def post(self, request: Request) -> Response:
        """What the texts would change in an agent's context, section by section and item by item. Nothing is stored.

        Both contexts are made of one reading of the database, so that every difference comes of the texts.
        """
        self.query()
        wishes = self.validated(TrialRequestSerializer)
        agent = agent_for(self.principal, wishes["agent"])
        team = team_for(self.principal, wishes["team"]) if wishes["team"] is not None else None
        asked = Asked(**{name: wishes[name] for name in ("topic", "profile", "max_tokens", "tokenizer", "now")})
        found = trial(agent=agent, team=team, asked=asked, texts=_texts(agent, team, wishes))
        return Response(TrialSerializer(_document(found, with_content=CONTENT in wishes["include"])).data)


def _texts(agent: Agent, team: Team | None, wishes: dict[str, Any]) -> dict[str, str]:
    """The texts by what they are about."""
    files: dict[str, str] = wishes["files"]
    mine = AgentFile.objects.filter(agent=agent, file_key__in=files)
    ours = TeamFile.objects.filter(team=team, file_key__in=files)
    return {
        **{file.about: files[file.file_key] for file in mine},
        **{file.about: files[file.file_key] for file in ours},
        **{DailyLog(agent=agent, date=day).about: text for day, text in wishes["daily_logs"].items()},
    }


def _document(found: Trial, *, with_content: bool) -> dict[str, Any]:
    comparison = found.comparison
    labels = {section.section.key: section.section.label for section in comparison.sections}
    return {
        "now": found.request.now,
        "budget": found.request.budget,
        "profile": found.profile.name,
        "tokenizer": found.request.tokenizer,
        "summary": summary(comparison, overflows=WarningCode.BUDGET_EXCEEDED in found.new_warnings),
        "same": comparison.is_same,
        "before": _context_document(found.before, with_content=with_content),
        "after": _context_document(found.after, with_content=with_content),
        "sections": [section_document(section) for section in comparison.sections],
        "changes": [change_document(change, labels) for change in comparison.changes],
        "missing_sources": [report.name for report in found.reports if report.code],
    }


def _context_document(made: Assembled, *, with_content: bool) -> dict[str, Any]:
    return {
        "tokens": made.tokens,
        "sha256": made.sha256,
        "warnings": [{"code": code, "message": warning_sentence(code)} for code in made.warnings],
        **({"content": made.content} if with_content else {}),
    }
