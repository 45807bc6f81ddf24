"""Where a text's page “What will the agents see?” is."""

from django import template

from teams.views.document import Document

register = template.Library()


@register.simple_tag
def sight_address(document: Document) -> str:
    """It stands beside the history, for files and daily logs alike."""
    return f"{document.history_address.removesuffix('history/')}sight/"
