"""The assembly app: choosing, budgeting, recording and replaying contexts."""

from importlib import import_module

from django.apps import AppConfig

from config.http.cpu_budget import check_cpu
from config.tokens import before_counting


class AssemblyConfig(AppConfig):
    name = "assembly"
    verbose_name = "Contexts"

    def ready(self) -> None:
        before_counting(check_cpu)
        for room in ("profile_room", "rule_room"):
            import_module(f"assembly.bundle.{room}")
        import_module("assembly.afterwards.sweeping")
        _register_followers()
        import_module("assembly.webhooks.delivering")  # a kind of job
        import_module("assembly.context_files.services")  # which tells workers its kind of job


def _register_followers() -> None:
    """Register what follows each new record, in this order."""
    from assembly.afterwards import followers
    from assembly.following import count_and_watch
    from assembly.seals.sealing import records_seal

    followers[:] = [records_seal, count_and_watch]
