"""The addresses of agents under /api/v1/."""

from django.urls import path

from agents.access import agent_for
from agents.api.agents import AgentDetail, AgentList
from agents.api.keys import AgentKeyDetail, AgentKeyList, KeyDetail, KeyList, TeamKeyDetail, TeamKeyList
from agents.api.logs import (
    DailyLogDetail,
    DailyLogList,
    DailyLogVersionCompare,
    DailyLogVersionDetail,
    DailyLogVersionList,
)
from agents.models import AgentFile
from agents.quotas.access import agent_key_subject, agent_subject, key_subject, person_subject, team_subject
from agents.quotas.api import LimitsDetail, OwnLimits
from agents.services import agent_files_provision
from teams.versioned_text.api import (
    FileDetail,
    FileList,
    FileOwners,
    FileVersionCompare,
    FileVersionDetail,
    FileVersionList,
)

AGENTS = FileOwners(agent_for, tuple(AgentFile.Key.values), agent_files_provision)

urlpatterns = [
    path("limits", OwnLimits.as_view()),
    path("teams/<slug:slug>/limits", LimitsDetail.as_view(find=team_subject)),
    path("agents/<slug:slug>/limits", LimitsDetail.as_view(find=agent_subject)),
    path("agents/<slug:slug>/keys/<uuid:key_id>/limits", LimitsDetail.as_view(find=agent_key_subject)),
    path("keys/<uuid:key_id>/limits", LimitsDetail.as_view(find=key_subject)),
    path("people/<uuid:id_>/limits", LimitsDetail.as_view(find=person_subject)),
    path("agents", AgentList.as_view()),
    path("agents/<slug:slug>", AgentDetail.as_view()),
    path("agents/<slug:slug>/keys", AgentKeyList.as_view()),
    path("agents/<slug:slug>/keys/<uuid:id_>", AgentKeyDetail.as_view()),
    path("keys", KeyList.as_view()),
    path("keys/<uuid:id_>", KeyDetail.as_view()),
    path("teams/<slug:slug>/keys", TeamKeyList.as_view()),
    path("teams/<slug:slug>/keys/<uuid:id_>", TeamKeyDetail.as_view()),
    path("agents/<slug:slug>/files", FileList.as_view(owners=AGENTS)),
    path("agents/<slug:slug>/files/<slug:key>", FileDetail.as_view(owners=AGENTS)),
    path("agents/<slug:slug>/files/<slug:key>/versions", FileVersionList.as_view(owners=AGENTS)),
    path("agents/<slug:slug>/files/<slug:key>/versions/<int:version>", FileVersionDetail.as_view(owners=AGENTS)),
    path(
        "agents/<slug:slug>/files/<slug:key>/versions/<int:version>/compare",
        FileVersionCompare.as_view(owners=AGENTS),
    ),
    path("agents/<slug:slug>/daily-logs", DailyLogList.as_view()),
    path("agents/<slug:slug>/daily-logs/<slug:date>", DailyLogDetail.as_view()),
    path("agents/<slug:slug>/daily-logs/<slug:date>/versions", DailyLogVersionList.as_view()),
    path("agents/<slug:slug>/daily-logs/<slug:date>/versions/<int:version>", DailyLogVersionDetail.as_view()),
    path("agents/<slug:slug>/daily-logs/<slug:date>/versions/<int:version>/compare", DailyLogVersionCompare.as_view()),
]
