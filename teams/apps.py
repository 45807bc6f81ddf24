"""The teams app: people, teams, what they may see, and versioned files."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class TeamsConfig(AppConfig):
    name = "teams"
    verbose_name = "Teams and people"

    def ready(self) -> None:
        from teams.database import grant_to_app_role  # noqa: PLC0415 - models are not loaded before ready()

        post_migrate.connect(grant_to_app_role, sender=self)
