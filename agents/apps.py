"""The agents app: agents, their files, daily logs and keys."""

from importlib import import_module

from django.apps import AppConfig


class AgentsConfig(AppConfig):
    name = "agents"
    verbose_name = "Agents"

    def ready(self) -> None:
        from agents.keys import admin_keys_revoke_of  # noqa: PLC0415 - models are not loaded before ready()
        from teams.people import admin_rights_ended  # noqa: PLC0415

        admin_rights_ended.connect(admin_keys_revoke_of, dispatch_uid="agents.admin_keys_revoke_of")
        import_module("agents.quotas.models")
