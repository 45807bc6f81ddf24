"""URLs of the pages of teams that need only the app `teams`; the home app adds the page that shows more."""

from django.urls import include, path, register_converter

from teams.activity.views import activity_csv, activity_log
from teams.models import TeamFile
from teams.organisation import views as organisation
from teams.readings.reading_reasons import reading_reason
from teams.readings.views import reading_csv, reading_log
from teams.views import files, members, people, teams


class TeamFileKeyConverter:
    """A URL converter for the key of a team's file, in upper case as in the API."""

    regex = "|".join(TeamFile.Key.values)

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(TeamFileKeyConverter, "team_file_key")

file_urls = [
    path("", files.edit, name="team_file"),
    path("history/", files.history, name="team_file_history"),
    path("history/compare/", files.compare, name="team_file_compare"),
    path("history/<int:number>/", files.version, name="team_file_version"),
    path("history/<int:number>/restore/", files.restore, name="team_file_restore"),
]

organisation_file_urls = [
    path("", organisation.edit, name="organisation_file"),
    path("settings/", organisation.file_settings, name="organisation_file_settings"),
    path("delete/", organisation.file_delete, name="organisation_file_delete"),
    path("history/", organisation.history, name="organisation_file_history"),
    path("history/compare/", organisation.compare, name="organisation_file_compare"),
    path("history/<int:number>/", organisation.version, name="organisation_file_version"),
    path("history/<int:number>/restore/", organisation.restore, name="organisation_file_restore"),
]

urlpatterns = [
    path("organisation/", organisation.file_list, name="organisation_files"),
    path("organisation/new/", organisation.file_new, name="organisation_file_new"),
    path("organisation/files/<slug:key>/", include(organisation_file_urls)),
    path("activity/", activity_log, name="activity_log"),
    path("activity/log.csv", activity_csv, name="activity_csv"),
    path("readings/", reading_log, name="reading_log"),
    path("readings/reason/", reading_reason, name="reading_reason"),
    path("readings/log.csv", reading_csv, name="reading_csv"),
    path("teams/", teams.team_list, name="team_list"),
    path("teams/new/", teams.team_new, name="team_new"),
    path("people/", people.people, name="people"),
    path("people/<uuid:id_>/", people.person, name="person"),
    path("people/<uuid:id_>/password/", people.password, name="person_password"),
    path("people/<uuid:id_>/invitation/", people.invitation, name="invitation"),
    path("people/<uuid:id_>/sign-out/", people.sign_out, name="person_sign_out"),
    path("people/<uuid:id_>/second-factor/", people.second_factor, name="person_second_factor"),
    path("teams/<slug:slug>/settings/", teams.team_settings, name="team_settings"),
    path("teams/<slug:slug>/delete/", teams.team_delete_view, name="team_delete"),
    path("teams/<slug:slug>/members/", members.members, name="team_members"),
    path("teams/<slug:slug>/members/<uuid:user_id>/role/", members.member_role, name="team_member_role"),
    path("teams/<slug:slug>/members/<uuid:user_id>/remove/", members.member_remove, name="team_member_remove"),
    path("teams/<slug:slug>/files/<team_file_key:key>/", include(file_urls)),
]
