"""In which contexts a version of a text was told, or left out."""

from urllib.parse import urlencode

from django import template
from django.urls import reverse

from teams.files import Version
from teams.views.document import Document

register = template.Library()
CONSIDERED = frozenset({"agent_file", "team_file", "daily_log"})
"""What the refs of texts begin with that contexts are made of; a profile or a rule is none."""


@register.simple_tag
def contexts_address(document: Document, version: Version) -> str:
    """The list of the contexts that considered the version; empty for what no context considers."""
    about = document.file.about
    if about.partition(":")[0] not in CONSIDERED:
        return ""
    return f"{reverse('context_list')}?{urlencode({'contains': f'{about}@{version.version}'})}"
