"""The REST API maps the addresses of assemblies, usage, profiles, rules and external sources below /api/v1/."""

from django.urls import path

from agents.access import agent_for
from assembly.comparison import api as comparison_api
from assembly.conflicts import api as conflicts_api
from assembly.contexts import api as contexts_api
from assembly.contexts import feedback_api, text_api, usage_api
from assembly.contract import api as contract_api
from assembly.learned_weights import api as learned_weights_api
from assembly.monitoring.alerts import api as alerts_api
from assembly.monitoring.trends import api as trends_api
from assembly.monitoring.webhooks import api as webhooks_api
from assembly.profiles import api as profiles_api
from assembly.profiles import tuning_api
from assembly.recall_tests import api as recall_tests_api
from assembly.recall_tests import publication_api as recall_publication_api
from assembly.records import api as records_api
from assembly.rules import api as rules_api
from assembly.simulation.draft_preview import api as draft_preview_api
from assembly.simulation.proposals import api as proposals_api
from assembly.simulation.rerun import api as rerun_api
from assembly.simulation.rule_backtest import api as rule_backtest_api
from assembly.simulation.time_travel import api as time_travel_api
from assembly.simulation.what_if import api as what_if_api
from assembly.sources.external import api as external_api
from assembly.why_not import api as why_not_api
from teams.access import team_for

urlpatterns = [
    path("assemblies", contexts_api.AssemblyList.as_view()),
    path("memory/assemble", contract_api.MemoryAssemble.as_view()),
    path("schemas/<str:name>", contract_api.PublishedSchemaDetail.as_view()),
    path("assemblies/compare", comparison_api.AssemblyCompare.as_view()),
    path("assemblies/<uuid:id_>", contexts_api.AssemblyDetail.as_view()),
    path("assemblies/<uuid:id_>/decisions", contexts_api.AssemblyDecisions.as_view()),
    path("assemblies/<uuid:id_>/replay", contexts_api.AssemblyReplay.as_view()),
    path("assemblies/<uuid:id_>/append", contexts_api.AssemblyAppend.as_view()),
    path("assemblies/<uuid:id_>/feedback", feedback_api.AssemblyFeedbackList.as_view()),
    path("assemblies/<uuid:id_>/why-not", why_not_api.AssemblyWhyNot.as_view()),
    path("assemblies/<uuid:id_>/as-of", time_travel_api.AssemblyAsOf.as_view()),
    path("agents/<slug:slug>/as-of", time_travel_api.AgentAsOf.as_view()),
    path("assemblies/<uuid:id_>/rerun", rerun_api.AssemblyRerun.as_view()),
    path("assemblies/<uuid:id_>/what-if", what_if_api.AssemblyWhatIf.as_view()),
    path("proposals", proposals_api.ProposalList.as_view()),
    path("proposals/<uuid:id_>", proposals_api.ProposalDetail.as_view()),
    path("proposals/<uuid:id_>/decision", proposals_api.ProposalDecision.as_view()),
    path("proposals/<uuid:id_>/rerun", proposals_api.ProposalRerun.as_view()),
    path("assemblies/<uuid:id_>/recall-test", recall_tests_api.AssemblyRecallTest.as_view()),
    path("recall-tests", recall_tests_api.RecallTestList.as_view()),
    path("recall-tests/trial", recall_publication_api.RecallTestTrial.as_view()),
    path("recall-tests/guards", recall_publication_api.PublicationGuardList.as_view()),
    path("recall-tests/guards/<uuid:id_>", recall_publication_api.PublicationGuardDetail.as_view()),
    path("recall-tests/<uuid:id_>", recall_tests_api.RecallTestDetail.as_view()),
    path("recall-tests/<uuid:id_>/run", recall_tests_api.RecallTestRun.as_view()),
    path("recall-tests/<uuid:id_>/results", recall_tests_api.RecallTestResults.as_view()),
    path("assemblies/<uuid:id_>/flag", records_api.AssemblyFlagView.as_view()),
    path("assemblies/<uuid:id_>/bundle", records_api.AssemblyBundle.as_view()),
    path("retention", records_api.RetentionView.as_view()),
    path("teams/<slug:slug>/retention", records_api.RetentionView.as_view()),
    path("draft-previews", draft_preview_api.DraftPreviewCreate.as_view()),
    path("agents/<slug:slug>/memories/<uuid:id_>/uses", usage_api.MemoryUses.as_view(find=agent_for)),
    path("teams/<slug:slug>/memories/<uuid:id_>/uses", usage_api.MemoryUses.as_view(find=team_for)),
    path("tokens", text_api.TokenCount.as_view()),
    path("compress", text_api.TextCompression.as_view()),
    path("profiles", profiles_api.ProfileList.as_view()),
    path("profiles/check", profiles_api.ProfileCheck.as_view()),
    path("profiles/<slug:name>", profiles_api.ProfileDetail.as_view()),
    path("profiles/<slug:name>/learned-weights", learned_weights_api.ProfileLearnedWeights.as_view()),
    path("profiles/<slug:name>/learned-weights/switch", learned_weights_api.ProfileLearnedWeightsSwitch.as_view()),
    path("profiles/<slug:name>/tuning", tuning_api.ProfileTuningDetail.as_view()),
    path("profiles/<slug:name>/versions", profiles_api.ProfileVersionList.as_view()),
    path("profiles/<slug:name>/versions/<int:version>", profiles_api.ProfileVersionDetail.as_view()),
    path("rules", rules_api.RuleList.as_view()),
    path("rules/check", rules_api.RuleCheck.as_view()),
    path("rules/recall-tests", recall_tests_api.RuleRecallTests.as_view()),
    path("rules/backtest", rule_backtest_api.RuleBacktestRun.as_view()),
    path("rules/<slug:name>", rules_api.RuleDetail.as_view()),
    path("rules/<slug:name>/versions", rules_api.RuleVersionList.as_view()),
    path("rules/<slug:name>/versions/<int:version>", rules_api.RuleVersionDetail.as_view()),
    path("external-sources", external_api.ExternalSourceList.as_view()),
    path("external-sources/<slug:name>", external_api.ExternalSourceDetail.as_view()),
    path("external-sources/<slug:name>/query", external_api.ExternalSourceQuery.as_view()),
    path("trends", trends_api.Trends.as_view()),
    path("conflicts", conflicts_api.ConflictList.as_view()),
    path("conflicts/<uuid:id_>", conflicts_api.ConflictDetail.as_view()),
    path("conflicts/<uuid:id_>/resolve", conflicts_api.ConflictResolve.as_view()),
    path("conflicts/<uuid:id_>/undo", conflicts_api.ConflictUndo.as_view()),
    path("alerts", alerts_api.AlertList.as_view()),
    path("alerts/<uuid:id_>", alerts_api.AlertDetail.as_view()),
    path("alerts/<uuid:id_>/acknowledge", alerts_api.AlertAcknowledge.as_view()),
    path("alerts/<uuid:id_>/resolve", alerts_api.AlertResolve.as_view()),
    path("alerts/<uuid:id_>/reopen", alerts_api.AlertReopen.as_view()),
    path("webhooks", webhooks_api.WebhookList.as_view()),
    path("webhooks/<uuid:id_>", webhooks_api.WebhookDetail.as_view()),
    path("webhooks/<uuid:id_>/secret", webhooks_api.WebhookSecret.as_view()),
    path("webhooks/<uuid:id_>/test", webhooks_api.WebhookTest.as_view()),
    path("webhooks/<uuid:id_>/deliveries", webhooks_api.WebhookDeliveries.as_view()),
    path("webhooks/<uuid:id_>/deliveries/<uuid:delivery>/resend", webhooks_api.WebhookDeliverySend.as_view()),
]
