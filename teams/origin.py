"""The origin of a stored text says how far it may be trusted; the server sets it by who wrote, and how."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Origin(models.TextChoices):
    """An origin says where a text comes from. Each is trusted less than those before it."""

    PERSON = "person", _("a person")
    AGENT = "agent", _("an agent")
    TOOL = "tool", _("a tool")
    EXTERNAL = "external", _("an external source")


def least_trusted(first: str, *others: str) -> Origin:
    """Return the least trusted of the origins, which a text made of several parts has."""
    return Origin(max((first, *others), key=Origin.values.index))
