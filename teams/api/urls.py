"""These are the addresses of teams and of the organisation's files under /api/v1/."""

from django.urls import path

from teams.activity.api import ActivityList
from teams.api.members import MemberDetail, MemberList
from teams.api.teams import TeamDetail, TeamList
from teams.organisation.api import (
    OrganisationFileDetail,
    OrganisationFileList,
    OrganisationFileVersionCompare,
    OrganisationFileVersionDetail,
    OrganisationFileVersionList,
)
from teams.readings.api import ReadingList
from teams.versioned_text.api import FileDetail, FileList, FileVersionCompare, FileVersionDetail, FileVersionList

urlpatterns = [
    path("activities", ActivityList.as_view()),
    path("readings", ReadingList.as_view()),
    path("organisation/files", OrganisationFileList.as_view()),
    path("organisation/files/<slug:key>", OrganisationFileDetail.as_view()),
    path("organisation/files/<slug:key>/versions", OrganisationFileVersionList.as_view()),
    path("organisation/files/<slug:key>/versions/<int:version>", OrganisationFileVersionDetail.as_view()),
    path("organisation/files/<slug:key>/versions/<int:version>/compare", OrganisationFileVersionCompare.as_view()),
    path("teams", TeamList.as_view()),
    path("teams/<slug:slug>", TeamDetail.as_view()),
    path("teams/<slug:slug>/members", MemberList.as_view()),
    path("teams/<slug:slug>/members/<str:username>", MemberDetail.as_view()),
    path("teams/<slug:slug>/files", FileList.as_view()),
    path("teams/<slug:slug>/files/<slug:key>", FileDetail.as_view()),
    path("teams/<slug:slug>/files/<slug:key>/versions", FileVersionList.as_view()),
    path("teams/<slug:slug>/files/<slug:key>/versions/<int:version>", FileVersionDetail.as_view()),
    path("teams/<slug:slug>/files/<slug:key>/versions/<int:version>/compare", FileVersionCompare.as_view()),
]
