"""Sections of the shipped profiles get the names that the pages use for their content.

Headings in the text of a context come from the seed ("Knowledge Base"); pages call the same content by one name
everywhere ("Knowledge"). A section with a heading of its own keeps it.
"""

from typing import Protocol

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

PAGE_NAMES: dict[tuple[str, str], str | Promise] = {
    ("goals", "Team Goals"): _("Goals"),
    ("context", "Team Context"): _("Background"),
    ("rules", "Team Rules"): _("Guidelines"),
    ("recent_activity", "Recent Activity"): _("Daily logs"),
    ("daily_logs", "Daily Logs"): _("Daily logs"),
    ("team_knowledge", "Team Knowledge"): _("Team memories"),
    ("personal_memories", "Personal Memories"): _("Agent memories"),
    ("knowledge", "Knowledge Base"): _("Knowledge"),
    ("recent_events", "Recent Activity"): _("Events"),
    ("semantic_content", "Relevant Content"): _("Documents"),
}
"""Names on pages, by key and heading of the section."""


class HasHeading(Protocol):
    @property
    def key(self) -> str: ...

    @property
    def label(self) -> str: ...


def section_name(section: HasHeading) -> str:
    """Return the name of a section for people."""
    return name_of_heading(section.key, section.label)


def name_of_heading(key: str, heading: str) -> str:
    """Return the name for people of the section with this key and heading."""
    return str(PAGE_NAMES.get((key, heading), heading))
