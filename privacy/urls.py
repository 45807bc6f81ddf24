"""The addresses of the pages of subjects."""

from django.urls import path

from privacy.corrections import views as corrections
from privacy.erasure import views as erasure_views
from privacy.subjects import export_views, views

urlpatterns = [
    path("erasures/", erasure_views.erasure_list, name="erasure_list"),
    path("erasures/<uuid:id_>/", erasure_views.erasure_page, name="erasure"),
    path("erasures/<uuid:id_>/report.json", erasure_views.report_file, name="erasure_report"),
    path("subjects/<uuid:id_>/erase/", erasure_views.erase, name="subject_erase"),
    path("subjects/<uuid:id_>/hold/", erasure_views.hold, name="subject_hold"),
    path("agents/<slug:slug>/hold/", erasure_views.agent_hold, name="agent_hold"),
    path("teams/<slug:slug>/hold/", erasure_views.team_hold, name="team_hold"),
    path("subjects/", views.subject_list, name="subject_list"),
    path("subjects/new/", views.subject_new, name="subject_new"),
    path("subjects/<uuid:id_>/", views.subject_page, name="subject"),
    path("subjects/<uuid:id_>/edit/", views.subject_edit, name="subject_edit"),
    path("subjects/<uuid:id_>/scan/", views.scan, name="subject_scan"),
    path("subjects/<uuid:id_>/mentions/", views.selection, name="subject_selection"),
    path("subjects/<uuid:id_>/restriction/", views.restriction, name="subject_restriction"),
    path("subjects/<uuid:id_>/correct/", corrections.correct, name="subject_correct"),
    path(
        "subjects/<uuid:id_>/corrections/<uuid:correction_id>/", corrections.correction_page, name="subject_correction"
    ),
    path(
        "subjects/<uuid:id_>/corrections/<uuid:correction_id>/undo/",
        corrections.undo,
        name="subject_correction_undo",
    ),
    path("subjects/<uuid:id_>/files/", export_views.files, name="subject_files"),
    path("subjects/<uuid:id_>/files/<uuid:file_id>/", export_views.download, name="subject_file_download"),
    path("subjects/<uuid:id_>/delete/", views.delete, name="subject_delete"),
]
