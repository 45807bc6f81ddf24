"""What can become of an item, in two or three words each: “Something was …”."""

from collections.abc import Mapping

from django.utils.translation import gettext_lazy as _

from assembly.engine.codes import Code

_LABELS: Mapping[str, object] = {
    Code.REQUIRED: _("told because it always is"),
    Code.PINNED: _("told because it is pinned"),
    Code.RULE_INCLUDED: _("told by a rule"),
    Code.FITS: _("told whole"),
    Code.TRUNCATED: _("cut to fit"),
    Code.COMPACTED: _("made shorter"),
    Code.SUMMARISED: _("told as a summary"),
    Code.OVER_SECTION_BUDGET: _("left out: no room in its section"),
    Code.OVER_TOTAL_BUDGET: _("left out: no room in the whole"),
    Code.OUTRANKED: _("left out: others ranked higher"),
    Code.BELOW_RELEVANCE: _("left out: too far from the topic"),
    Code.DUPLICATE: _("left out: it was there already"),
    Code.CONFLICT_LOST: _("left out: it lost a conflict"),
    Code.RULE_EXCLUDED: _("left out by a rule"),
    Code.FILTERED: _("left out: the request did not want it"),
    Code.SUPERSEDED: _("left out: something newer replaced it"),
    Code.EXPIRED: _("left out: it had expired"),
    Code.EMPTY: _("empty"),
}


def reason_label(code: str) -> str:
    """Of a reason code."""
    return str(_LABELS[Code(code)])
