"""The pages of contexts, profiles and rules."""

from django.urls import path

from assembly.views import context, contexts, preview, profile_versions, profiles, rule_versions, rules, size

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
    path("rules/", rules.rule_list, name="rule_list"),
    path("rules/new/", rules.rule_new, name="rule_new"),
    path("rules/check/", rules.rule_check, name="rule_check"),
    path("rules/<slug:name>/", rules.rule_page, name="rule_page"),
    path("rules/<slug:name>/edit/", rule_versions.edit, name="rule_edit"),
    path("rules/<slug:name>/switch/", rules.switch, name="rule_switch"),
    path("rules/<slug:name>/delete/", rules.delete, name="rule_delete"),
    path("rules/<slug:name>/history/", rule_versions.history, name="rule_history"),
    path("rules/<slug:name>/history/<int:number>/", rule_versions.version, name="rule_version"),
    path("rules/<slug:name>/history/<int:number>/restore/", rule_versions.restore, name="rule_restore"),
    path("size/<slug:key>/", size.size, name="size"),
]
