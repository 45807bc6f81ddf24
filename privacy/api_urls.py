"""The REST API maps the addresses of subjects below /api/v1/."""

from django.urls import path

from privacy.corrections import api as corrections
from privacy.erasure import api as erasures
from privacy.subjects import api

urlpatterns = [
    path("erasures", erasures.ErasureList.as_view()),
    path("erasures/<uuid:id_>", erasures.ErasureDetail.as_view()),
    path("legal-holds", erasures.HoldList.as_view()),
    path("legal-holds/<uuid:id_>", erasures.HoldDetail.as_view()),
    path("subjects/<uuid:id_>/erasure-plan", erasures.SubjectErasurePlan.as_view()),
    path("subjects", api.SubjectList.as_view()),
    path("subjects/search", api.SubjectSearch.as_view()),
    path("subjects/<uuid:id_>", api.SubjectDetail.as_view()),
    path("subjects/<uuid:id_>/versions", api.SubjectVersionList.as_view()),
    path("subjects/<uuid:id_>/mentions", api.SubjectMentionList.as_view()),
    path("subjects/<uuid:id_>/scan", api.SubjectScanList.as_view()),
    path("subjects/<uuid:id_>/restriction", api.SubjectRestriction.as_view()),
    path("subjects/<uuid:id_>/correction-plan", corrections.CorrectionPlanView.as_view()),
    path("subjects/<uuid:id_>/corrections", corrections.CorrectionList.as_view()),
    path("subjects/<uuid:id_>/corrections/<uuid:correction_id>", corrections.CorrectionDetail.as_view()),
    path("subjects/<uuid:id_>/corrections/<uuid:correction_id>/undo", corrections.CorrectionUndo.as_view()),
    path("subjects/<uuid:id_>/files", api.SubjectFileList.as_view()),
    path("subjects/<uuid:id_>/files/<uuid:file_id>", api.SubjectFileDetail.as_view()),
    path("subjects/<uuid:id_>/files/<uuid:file_id>/content", api.SubjectFileContent.as_view()),
]
