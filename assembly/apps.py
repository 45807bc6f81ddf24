"""The assembly app: choosing, budgeting, recording and replaying contexts."""

from django.apps import AppConfig


class AssemblyConfig(AppConfig):
    name = "assembly"
    verbose_name = "Contexts"
