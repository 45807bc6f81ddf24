"""The teams app: people, teams, what they may see, and versioned files."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class TeamsConfig(AppConfig):
    name = "teams"
    verbose_name = "Teams and people"

    def ready(self) -> None:
        # Models are not loaded before ready().
        from config.db.migration_helpers import grant_to_app_role  # noqa: PLC0415
        from teams.sealing import parts  # noqa: F401, PLC0415 - its receivers
        from teams.sign_in import receivers  # noqa: PLC0415

        post_migrate.connect(grant_to_app_role, sender=self)
        receivers.connect()
