"""This Django app has no models: it registers its checks."""

from importlib import import_module

from django.apps import AppConfig


class KeysConfig(AppConfig):
    name = "config.keys"
    label = "keys"

    def ready(self) -> None:
        import_module("config.keys.deploy_checks")
