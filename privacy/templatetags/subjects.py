"""The template tag that says on the page of a thing which subjects it mentions."""

from typing import Any

from django import template

from privacy.models import MentionStatus, Subject

register = template.Library()


@register.simple_tag(takes_context=True)
def subjects_of(context: dict[str, Any], row: Any) -> list[Subject]:
    """Return the subjects to which the thing is linked, for admins of the organisation; nothing for others."""
    user = getattr(context.get("request"), "user", None)
    if row is None or not getattr(user, "is_admin", False):
        return []
    linked = Subject.objects.filter(mentions__thing=row.pk, mentions__status=MentionStatus.LINKED, erased_at=None)
    return list(linked.order_by("name", "id"))
