"""The memories app: what agents and teams keep, found by meaning."""

from importlib import import_module

from django.apps import AppConfig
from django.conf import settings


class MemoriesConfig(AppConfig):
    name = "memories"
    verbose_name = "Memories"

    def ready(self) -> None:
        import_module("memories.archive.team_section")  # teams come first: agents join them
        import_module("memories.archive.agent_section")
        import_module(settings.CELERY_APP)  # jobs are sent through the application that it makes the current one
