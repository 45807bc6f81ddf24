"""The app `assembly` selects, budgets, records and replays contexts."""

from importlib import import_module

from django.apps import AppConfig

from assembly.engine.rendering import set_cache_check
from assembly.engine.tokenizers import set_count_check
from config.http.cpu_budget import check_cpu


class AssemblyConfig(AppConfig):
    name = "assembly"
    verbose_name = "Contexts"

    def ready(self) -> None:
        set_count_check(check_cpu)
        set_cache_check(import_module("teams.sensitivity").may_cache)
        for room in ("profiles", "rules", "recall_tests", "conflicts"):
            import_module(f"assembly.{room}.archive")
        followers = import_module("assembly.records.followers").followers
        seals = import_module("assembly.records.seals")
        monitoring = import_module("assembly.monitoring.new_contexts")
        followers[:] = [seals.records_seal, monitoring.follow_assemblies]  # in this order
        import_module("agents.context_profiles").registered[:] = [
            import_module("assembly.profiles.catalogue").usable_profile_names
        ]
        import_module("teams.versioned_text.publication").registered[:] = [
            import_module("assembly.recall_tests.refusal").refuse_failing
        ]
        import_module("assembly.recall_tests.embedder_change")  # a kind of job, created for a change of the embedder
        import_module("assembly.monitoring.webhooks.delivery")  # a kind of job
        import_module("assembly.contexts.exports")  # which tells workers its kind of job
        import_module("assembly.conflicts.language_model.checks")  # a check at start
        import_module("assembly.conflicts.find")  # a kind of job, created for saved texts
        import_module("assembly.conflicts.memberships")  # the receiver of a signal
        import_module("assembly.pipeline.level_derivation")  # a kind of job, created for saved texts
        import_module("assembly.monitoring.alerts.installation_alerts")  # the receiver of a signal
        further = import_module("memories.lifecycle.hourly_run").further_steps
        further[:] = [import_module("assembly.conflicts.consolidation").consolidate_duplicates]
        import_module("assembly.records.raised_levels")  # a periodic task
        import_module("assembly.learned_weights.jobs")  # a kind of job and a periodic task
        import_module("assembly.preassembly.reading_ahead")  # a periodic task
