"""The app `privacy` keeps subjects: people about whom things are stored."""

from importlib import import_module

from django.apps import AppConfig


class PrivacyConfig(AppConfig):
    name = "privacy"
    verbose_name = "Privacy"

    def ready(self) -> None:
        for module in ("scan", "export"):
            import_module(f"privacy.subjects.{module}")  # kinds of jobs
        import_module("privacy.corrections.services")  # a kind of job
        for module in ("erasure_job", "repetition"):  # a kind of job; a periodic task and a check
            import_module(f"privacy.erasure.{module}")
