"""In which contexts a version of a text was told, or left out.

Where a text's page “What will the agents see?” is.

Badges for what the reader of a context must know.
"""

from urllib.parse import urlencode

from django import template
from django.urls import reverse

from assembly.engine.reasons import warning_label
from teams.versioned_text.presentation import Document
from teams.versioned_text.versioned_file import Version

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


@register.simple_tag
def sight_address(document: Document) -> str:
    """It stands beside the history, for files and daily logs alike."""
    return f"{document.history_address.removesuffix('history/')}sight/"


register.filter("warning_label", warning_label)
