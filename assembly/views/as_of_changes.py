"""What became of a context of another moment since: item by item, in words. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation import gettext as _

from assembly.as_of.told import Told
from assembly.comparing import Change, compare
from assembly.engine.types import Decision
from assembly.views.as_of_words import version_of
from assembly.views.explanation import Tag
from assembly.views.titles import title_of


@dataclass(frozen=True, slots=True)
class ChangeSince:
    """An item that a reader would find different now."""

    title: str
    section: str
    layer: str
    tag: Tag
    why: str


def changes_since(then: Told, now: Told) -> list[ChangeSince]:
    """What is new, what is gone, and what says something else; a change of score or place alone is none."""
    comparison = compare(then.assembled, now.assembled)
    sections = {one.section.key: one.section for one in comparison.sections}
    candidates = {one.ref: one for told in (then, now) for one in told.candidates}
    return [
        ChangeSince(
            title=title_of(candidates[change.decision.ref]),
            section=sections[change.decision.section].label,
            layer=sections[change.decision.section].layer.lower(),
            tag=_tag(change),
            why=" ".join(_why(change)),
        )
        for change in comparison.changes
        if _is_told_otherwise(change)
    ]


def _is_told_otherwise(change: Change) -> bool:
    before, after = change.before, change.after
    if change.effect != "changed" or not (before and after):
        return True
    return after.included and _standing(before) != _standing(after)


def _standing(decision: Decision) -> tuple[object, ...]:
    """Which version, in or cut how, and how many characters of it."""
    return decision.ref, decision.code, (decision.end or 0) - (decision.start or 0)


def _tag(change: Change) -> Tag:
    tags = {
        "in": Tag(_("new"), "good"),
        "out": Tag(_("gone"), "bad"),
        "moved": Tag(_("moved"), "plain"),
        "changed": Tag(_("changed"), "warn"),
    }
    return tags[change.effect]


def _why(change: Change) -> Iterator[str]:
    before, after = change.before, change.after
    if before is None:
        yield _("It was not considered then.")
    elif after is None:
        yield _("It is not considered any more.")
    elif change.effect == "in":
        yield _("It was left out then.")
    elif change.effect == "out":
        yield _("It is left out now.")
    elif version_of(before.ref) != version_of(after.ref):
        versions = {"then": version_of(before.ref), "now": version_of(after.ref)}
        yield _("Version %(then)s then, version %(now)s now.") % versions
    else:
        yield _("The same version, of which another part is told.")
