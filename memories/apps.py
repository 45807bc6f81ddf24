"""The memories app holds what agents and teams remember, and finds it by meaning and by words."""

from importlib import import_module

from django.apps import AppConfig
from django.conf import settings


class MemoriesConfig(AppConfig):
    name = "memories"
    verbose_name = "Memories"

    def ready(self) -> None:
        import_module("memories.archive.organisation_section")
        import_module("memories.archive.team_section")  # before agents: an import creates teams first
        import_module("memories.archive.agent_section")
        import_module("memories.embeddings.file_splitting")  # a kind of job, and the receiver that creates it
        import_module("memories.lifecycle.hourly_run")  # kinds of jobs and a periodic task
        import_module("memories.lifecycle.undoing")  # a kind of job
        import_module("memories.lifecycle.plain_texts")  # a check
        import_module(settings.CELERY_APP)  # creates the Celery application, through which jobs are sent
