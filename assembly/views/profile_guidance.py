"""The words beside a profile's editor."""

from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from assembly.profiles.catalogue import known_sources
from assembly.profiles.sections import KEYS, SHAPES
from assembly.views.profile_table import source_label
from teams.guidance import Guidance

PROFILE = Guidance(
    name=_("Profile"),
    purpose=_("what a context is made of"),
    question=_("How a profile is written"),
    advice=(
        _("One section per heading of the context, in the order in which the agent is to read them."),
        _("Required sections stand first and are never cut; recent turns stand last."),
        _("A section takes at most its cap in tokens, and at most its share in percent of the budget."),
        _("Sections in blocks stand together: their items compete by the weights."),
        _(
            "What has no room: over_budget names the steps that are taken, drop, compact and summarise, in this order; "
            "cut_at says where a text that is still too long ends: anywhere, sentence, paragraph or heading."
        ),
        _(
            "Passages of documents rank by the ranker that their section names: default, similarity, words or seed, "
            "which is the one without a line; memories by the one that the profile names."
        ),
        _("With fill: true, what was left out gets another chance where a tenth of the room stays free."),
        _("Say in a comment, after #, why a number is what it is."),
    ),
    example=(
        "- key: patterns\n"
        "  heading: Applicable Patterns\n"
        "  layer: L6\n"
        "  source: patterns\n"
        "  shape: blocks\n"
        "  share: 5        # percent of the budget\n"
        "  cap: 900        # tokens\n"
        "  top_k: 5        # the best five have a chance\n"
        "  overflow: drop  # or cut: the best is cut to fit"
    ),
)


@dataclass(frozen=True, slots=True)
class OfferedSource:
    """A source that a section may name, the shapes that suit it, and the keys that it asks for (none: any)."""

    name: str
    label: str
    shapes: tuple[str, ...]
    keys: tuple[str, ...]


def offered_sources() -> list[OfferedSource]:
    """The sources, in the order in which they are registered."""
    return [
        OfferedSource(name, source_label(name), SHAPES.get(name, ("blocks",)), KEYS.get(name, ()))
        for name in known_sources()
    ]
