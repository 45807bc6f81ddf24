"""The assembly app: choosing, budgeting, recording and replaying contexts."""

from importlib import import_module

from django.apps import AppConfig


class AssemblyConfig(AppConfig):
    name = "assembly"
    verbose_name = "Contexts"

    def ready(self) -> None:
        for room in ("profile_room", "rule_room"):
            import_module(f"assembly.bundle.{room}")
        import_module("assembly.afterwards.sweeping")
        import_module("assembly.webhooks.delivering")  # a kind of job
        import_module("assembly.context_files.services")  # which tells workers its kind of job
