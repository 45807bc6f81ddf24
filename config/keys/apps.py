"""This Django app has no models: it registers its checks."""

from django.apps import AppConfig


class KeysConfig(AppConfig):
    name = "config.keys"
    label = "keys"

    def ready(self) -> None:
        from config.keys import deploy_checks  # noqa: F401, PLC0415 - they can be registered when apps are loaded
