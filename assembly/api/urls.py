"""The addresses of assemblies, what they used, profiles, rules and external sources under /api/v1/."""

from django.urls import path

from agents.access import agent_for
from assembly.api import again, external, profiles, proposals, rule_trying, rules, trials, uses, views
from teams.access import team_for

urlpatterns = [
    path("assemblies", views.AssemblyList.as_view()),
    path("assemblies/compare", again.AssemblyCompare.as_view()),
    path("assemblies/<uuid:id_>", views.AssemblyDetail.as_view()),
    path("assemblies/<uuid:id_>/decisions", views.AssemblyDecisions.as_view()),
    path("assemblies/<uuid:id_>/replay", views.AssemblyReplay.as_view()),
    path("assemblies/<uuid:id_>/append", views.AssemblyAppend.as_view()),
    path("assemblies/<uuid:id_>/again", again.AssemblyAgain.as_view()),
    path("assemblies/<uuid:id_>/what-if", again.AssemblyWhatIf.as_view()),
    path("proposals", proposals.ProposalList.as_view()),
    path("proposals/<uuid:id_>", proposals.ProposalDetail.as_view()),
    path("proposals/<uuid:id_>/decision", proposals.ProposalDecision.as_view()),
    path("proposals/<uuid:id_>/try", proposals.ProposalTry.as_view()),
    path("trials", trials.TrialCreate.as_view()),
    path("agents/<slug:slug>/memories/<uuid:id_>/uses", uses.MemoryUses.as_view(find=agent_for)),
    path("teams/<slug:slug>/memories/<uuid:id_>/uses", uses.MemoryUses.as_view(find=team_for)),
    path("tokens", views.Tokens.as_view()),
    path("compress", views.Compress.as_view()),
    path("profiles", profiles.ProfileList.as_view()),
    path("profiles/check", profiles.ProfileCheck.as_view()),
    path("profiles/<slug:name>", profiles.ProfileDetail.as_view()),
    path("profiles/<slug:name>/versions", profiles.ProfileVersionList.as_view()),
    path("profiles/<slug:name>/versions/<int:version>", profiles.ProfileVersionDetail.as_view()),
    path("rules", rules.RuleList.as_view()),
    path("rules/check", rules.RuleCheck.as_view()),
    path("rules/try", rule_trying.RuleTry.as_view()),
    path("rules/<slug:name>", rules.RuleDetail.as_view()),
    path("rules/<slug:name>/versions", rules.RuleVersionList.as_view()),
    path("rules/<slug:name>/versions/<int:version>", rules.RuleVersionDetail.as_view()),
    path("external-sources", external.ExternalSourceList.as_view()),
    path("external-sources/<slug:name>", external.ExternalSourceDetail.as_view()),
    path("external-sources/<slug:name>/ask", external.ExternalSourceAsk.as_view()),
]
