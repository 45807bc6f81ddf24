"""The pages of contexts and profiles."""

from django.urls import path

from assembly.views import context, contexts, preview, profile_versions, profiles, size

urlpatterns = [
    path("preview/", preview.preview, name="preview"),
    path("contexts/", contexts.contexts, name="context_list"),
    path("contexts/<uuid:id_>/", context.context, name="context"),
    path("contexts/<uuid:id_>/replay/", context.replay, name="context_replay"),
    path("contexts/<uuid:id_>/text/", context.download, name="context_download"),
    path("profiles/", profiles.profile_list, name="profile_list"),
    path("profiles/new/", profiles.profile_new, name="profile_new"),
    path("profiles/check/", profiles.profile_check, name="profile_check"),
    path("profiles/<slug:name>/", profiles.profile_page, name="profile_page"),
    path("profiles/<slug:name>/edit/", profile_versions.edit, name="profile_edit"),
    path("profiles/<slug:name>/delete/", profiles.delete, name="profile_delete"),
    path("profiles/<slug:name>/history/", profile_versions.history, name="profile_history"),
    path("profiles/<slug:name>/history/<int:number>/", profile_versions.version, name="profile_version"),
    path("profiles/<slug:name>/history/<int:number>/restore/", profile_versions.restore, name="profile_restore"),
    path("size/<slug:key>/", size.size, name="size"),
]
