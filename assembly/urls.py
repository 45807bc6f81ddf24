"""The website maps the addresses of the pages of contexts, profiles, rules and external sources."""

from django.urls import path

from assembly.comparison import views as comparison_views
from assembly.conflicts import selection as conflicts_selection
from assembly.conflicts import views as conflicts_views
from assembly.contexts import item_views, list_views, page_views, preview, selection
from assembly.learned_weights import views as learned_weights_views
from assembly.monitoring.alerts import selection as alerts_selection
from assembly.monitoring.alerts import views as alerts_views
from assembly.monitoring.trends import views as trends_views
from assembly.monitoring.webhooks import views as webhooks_views
from assembly.notifications import views as notifications_views
from assembly.profiles import tuning_views
from assembly.profiles import views as profiles_views
from assembly.recall_tests import publication_views as recall_publication_views
from assembly.recall_tests import views as recall_tests_views
from assembly.records import views as records_views
from assembly.rules import edit_views
from assembly.rules import views as rules_views
from assembly.simulation.draft_preview import views as draft_preview_views
from assembly.simulation.proposals import views as proposals_views
from assembly.simulation.rerun import views as rerun_views
from assembly.simulation.rule_backtest import views as rule_backtest_views
from assembly.simulation.time_travel import views as time_travel_views
from assembly.simulation.what_if import views as what_if_views
from assembly.sources.external import views as external_views
from assembly.why_not import views as why_not_views

urlpatterns = [
    path("preview/", preview.preview, name="preview"),
    path("contexts/", list_views.contexts, name="context_list"),
    path("contexts/compare/", comparison_views.compare, name="context_compare"),
    path("contexts/selected/", selection.selection, name="context_selection"),
    path("contexts/download/", list_views.context_list_download, name="context_list_download"),
    path("contexts/lists/<uuid:id_>/", list_views.context_file, name="context_file"),
    path("contexts/lists/<uuid:id_>/file/", list_views.context_file_download, name="context_file_download"),
    path("contexts/<uuid:id_>/", page_views.context, name="context"),
    path("contexts/<uuid:id_>/replay/", page_views.replay, name="context_replay"),
    path("contexts/<uuid:id_>/text/", page_views.download, name="context_download"),
    path("contexts/<uuid:id_>/why-not/", why_not_views.why_not, name="context_why_not"),
    path("contexts/<uuid:id_>/items/", item_views.context_items, name="context_items"),
    path("contexts/<uuid:id_>/exact/", page_views.exact, name="context_exact"),
    path("contexts/<uuid:id_>/rules-and-sources/", page_views.rules_and_sources, name="context_rules_and_sources"),
    path("contexts/<uuid:id_>/json/", page_views.record, name="context_record"),
    path("contexts/<uuid:id_>/json/file/", page_views.record_file, name="context_record_file"),
    path("contexts/<uuid:id_>/feedback/", page_views.feedback, name="context_feedback"),
    path("contexts/<uuid:id_>/flag/", records_views.flag, name="context_flag"),
    path("contexts/<uuid:id_>/recall-test/", recall_tests_views.keep_context, name="context_recall_test"),
    path("contexts/<uuid:id_>/bundle/", records_views.bundle, name="context_bundle"),
    path("retention/", records_views.retention, name="retention"),
    path("retention/retry/", records_views.retry_followers, name="followers_retry"),
    path("teams/<slug:slug>/retention/", records_views.team_retention, name="team_retention"),
    path("contexts/<uuid:id_>/rerun/", rerun_views.rerun, name="context_rerun"),
    path("contexts/<uuid:id_>/what-if/", what_if_views.what_if_page, name="context_what_if"),
    path("notifications/", notifications_views.notification_list, name="notification_list"),
    path("notifications/read/", notifications_views.read_all, name="notifications_read_all"),
    path("notifications/<uuid:id_>/", notifications_views.notification, name="notification"),
    path("proposals/", proposals_views.proposal_list, name="proposal_list"),
    path("proposals/<uuid:id_>/", proposals_views.proposal, name="proposal"),
    path("proposals/<uuid:id_>/decide/", proposals_views.decide, name="proposal_decide"),
    path("proposals/<uuid:id_>/delete/", proposals_views.delete, name="proposal_delete"),
    path("recall-tests/", recall_tests_views.recall_test_list, name="recall_test_list"),
    path("recall-tests/new/", recall_tests_views.recall_test_new, name="recall_test_new"),
    path("drafts/<uuid:id_>/recall-tests/", recall_publication_views.draft, name="recall_draft"),
    path("recall-tests/guard/", recall_publication_views.guard, name="publication_guard"),
    path("recall-tests/<uuid:id_>/", recall_tests_views.recall_test, name="recall_test"),
    path("recall-tests/<uuid:id_>/edit/", recall_tests_views.recall_test_edit, name="recall_test_edit"),
    path("recall-tests/<uuid:id_>/run/", recall_tests_views.run, name="recall_test_run"),
    path("recall-tests/<uuid:id_>/archive/", recall_tests_views.archive, name="recall_test_archive"),
    path("recall-tests/<uuid:id_>/delete/", recall_tests_views.delete, name="recall_test_delete"),
    path("profiles/", profiles_views.profile_list, name="profile_list"),
    path("profiles/new/", profiles_views.profile_new, name="profile_new"),
    path("profiles/check/", profiles_views.profile_pages.check, name="profile_check"),
    path("profiles/<slug:name>/", profiles_views.profile_page, name="profile_page"),
    path("profiles/<slug:name>/learned-weights/", learned_weights_views.learned_weights_page, name="learned_weights"),
    path("profiles/<slug:name>/learned-weights/learn/", learned_weights_views.learn, name="learned_weights_learn"),
    path("profiles/<slug:name>/learned-weights/switch/", learned_weights_views.switch, name="learned_weights_switch"),
    path("profiles/<slug:name>/edit/", profiles_views.profile_edit, name="profile_edit"),
    path("profiles/<slug:name>/edit/recall-tests/", recall_publication_views.profile, name="recall_profile"),
    path("profiles/<slug:name>/delete/", profiles_views.delete, name="profile_delete"),
    path("profiles/<slug:name>/tuning/switch/", tuning_views.switch, name="tuning_switch"),
    path("profiles/<slug:name>/tuning/reset/", tuning_views.reset, name="tuning_reset"),
    *profiles_views.profile_pages.paths(),
    path("profiles/<slug:name>/history/<int:number>/restore/", profiles_views.restore, name="profile_restore"),
    path("rules/", rules_views.rule_list, name="rule_list"),
    path("rules/new/", edit_views.new, name="rule_new"),
    path("rules/new/backtest/", rule_backtest_views.new_rule_backtest_page, name="rule_backtest_new"),
    path("rules/new/recall-tests/", recall_publication_views.new_rule, name="recall_rule_new"),
    path("rules/<slug:name>/edit/recall-tests/", recall_publication_views.edited_rule, name="recall_rule"),
    path("rules/check/", rules_views.rule_pages.check, name="rule_check"),
    path("rules/<slug:name>/", rules_views.rule_page, name="rule_page"),
    path("rules/<slug:name>/edit/", edit_views.edit, name="rule_edit"),
    path(
        "rules/<slug:name>/edit/backtest/", rule_backtest_views.edited_rule_backtest_page, name="rule_backtest_edited"
    ),
    path("rules/<slug:name>/backtest/", rule_backtest_views.rule_backtest_page, name="rule_backtest"),
    path("rules/<slug:name>/switch/", rules_views.switch, name="rule_switch"),
    path("rules/<slug:name>/delete/", rules_views.delete, name="rule_delete"),
    *rules_views.rule_pages.paths(),
    path("rules/<slug:name>/history/<int:number>/restore/", rules_views.restore, name="rule_restore"),
    path("external-sources/", external_views.external_list, name="external_list"),
    path("external-sources/new/", external_views.external_new, name="external_new"),
    path("external-sources/<slug:name>/", external_views.external_page, name="external_page"),
    path("external-sources/<slug:name>/edit/", external_views.external_edit, name="external_edit"),
    path("external-sources/<slug:name>/query/", external_views.ask, name="external_query"),
    path("external-sources/<slug:name>/switch/", external_views.switch, name="external_switch"),
    path("external-sources/<slug:name>/delete/", external_views.delete, name="external_delete"),
    path(
        "teams/<slug:slug>/files/<team_file_key:key>/preview/", draft_preview_views.team_file, name="team_file_preview"
    ),
    path(
        "organisation/files/<slug:key>/preview/",
        draft_preview_views.organisation_file,
        name="organisation_file_preview",
    ),
    path(
        "agents/<slug:slug>/files/<agent_file_key:key>/preview/",
        draft_preview_views.agent_file,
        name="agent_file_preview",
    ),
    path("agents/<slug:slug>/logs/<date:date>/preview/", draft_preview_views.daily_log, name="daily_log_preview"),
    path("agents/<slug:slug>/as-of/", time_travel_views.as_of, name="agent_as_of"),
    path("size/<slug:key>/", draft_preview_views.size, name="size"),
    path("trends/", trends_views.trends, name="trends"),
    path("trends/files-over-limit.csv", trends_views.file_losses_csv, name="file_losses_csv"),
    path("teams/<slug:slug>/trends/", trends_views.team_trends, name="team_trends"),
    path("agents/<slug:slug>/trends/", trends_views.agent_trends, name="agent_trends"),
    path("alerts/", alerts_views.alert_list, name="alert_list"),
    path("alerts/selected/", alerts_selection.selection, name="alert_selection"),
    path("alerts/<uuid:id_>/acknowledge/", alerts_views.acknowledge, name="alert_acknowledge"),
    path("alerts/<uuid:id_>/resolve/", alerts_views.resolve, name="alert_resolve"),
    path("alerts/<uuid:id_>/reopen/", alerts_views.reopen, name="alert_reopen"),
    path("conflicts/", conflicts_views.conflict_list, name="conflict_list"),
    path("conflicts/selected/", conflicts_selection.selection, name="conflict_selection"),
    path("conflicts/<uuid:id_>/", conflicts_views.conflict_page, name="conflict_page"),
    path("conflicts/<uuid:id_>/resolve/", conflicts_views.resolve, name="conflict_resolve"),
    path("conflicts/<uuid:id_>/undo/", conflicts_views.undo, name="conflict_undo"),
    path("webhooks/", webhooks_views.webhook_list, name="webhook_list"),
    path("webhooks/new/", webhooks_views.webhook_new, name="webhook_new"),
    path("webhooks/<uuid:id_>/", webhooks_views.webhook_page, name="webhook_page"),
    path("webhooks/<uuid:id_>/edit/", webhooks_views.webhook_edit, name="webhook_edit"),
    path("webhooks/<uuid:id_>/secret/", webhooks_views.secret, name="webhook_secret"),
    path("webhooks/<uuid:id_>/secret/change/", webhooks_views.secret_change, name="webhook_secret_change"),
    path("webhooks/<uuid:id_>/test/", webhooks_views.test, name="webhook_test"),
    path("webhooks/<uuid:id_>/messages/<uuid:delivery>/resend/", webhooks_views.resend, name="webhook_resend"),
    path("webhooks/<uuid:id_>/switch/", webhooks_views.switch, name="webhook_switch"),
    path("webhooks/<uuid:id_>/delete/", webhooks_views.delete, name="webhook_delete"),
]
