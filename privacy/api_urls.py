"""The REST API maps the addresses of subjects below /api/v1/."""

from django.urls import path

from privacy.subjects import api

urlpatterns = [
    path("subjects", api.SubjectList.as_view()),
    path("subjects/search", api.SubjectSearch.as_view()),
    path("subjects/<uuid:id_>", api.SubjectDetail.as_view()),
    path("subjects/<uuid:id_>/versions", api.SubjectVersionList.as_view()),
    path("subjects/<uuid:id_>/mentions", api.SubjectMentionList.as_view()),
    path("subjects/<uuid:id_>/scan", api.SubjectScanList.as_view()),
    path("subjects/<uuid:id_>/restriction", api.SubjectRestriction.as_view()),
    path("subjects/<uuid:id_>/files", api.SubjectFileList.as_view()),
    path("subjects/<uuid:id_>/files/<uuid:file_id>", api.SubjectFileDetail.as_view()),
    path("subjects/<uuid:id_>/files/<uuid:file_id>/content", api.SubjectFileContent.as_view()),
]
