"""The tag that shows the storage tier of a thing on its page."""

from typing import Any

from django import template

from memories.lifecycle.tier_presentation import describe_tier
from memories.lifecycle.tiers import Tiered

register = template.Library()


@register.inclusion_tag("memories/lifecycle/_tier.html")
def tier_of(thing: Tiered) -> dict[str, Any]:
    """Show in which tier the thing is, since when, its uses, and what comes next."""
    return {"described": describe_tier(thing)}
