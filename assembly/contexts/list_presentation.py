"""This module makes the rows of the list of contexts, and the sentence that says which contexts are listed.

Rows are formatted in Python, because template filters are slow for dozens of rows.
"""

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agents.models import Agent
from assembly.contexts.forms import ContextFilterForm, reason_label
from assembly.contexts.items import OutcomeTag
from assembly.contexts.layers import bar_width
from assembly.contexts.links import ANY_ID, address_pattern
from assembly.contexts.search.criteria import ANY_FILE, ReferenceQuery
from assembly.engine.reasons import warning_label
from assembly.engine.refs import Ref
from assembly.models import Assembly, AssemblyFlag, Purpose
from assembly.records.warnings import load_outcome_bodies, shortage_sentence
from assembly.sources.kinds import KINDS, ItemKind
from teams.models import Team
from teams.principal import Principal

PURPOSE_TAGS = {Purpose.PREVIEW: gettext_lazy("preview"), Purpose.TEST: gettext_lazy("test")}
TOPIC = 80  # most characters of a topic in a row


@dataclass(frozen=True, slots=True)
class ContextRow:
    """A row of the list of contexts. `share`: the used part of the budget, in the units of the bar's SVG."""

    id: str
    address: str
    created: datetime.datetime
    whose: str
    topic: str
    profile: str
    share: int
    is_over: bool
    tokens: str
    left_out: str
    outcomes: tuple[OutcomeTag, ...]
    took: str


def context_rows(contexts: Sequence[Assembly]) -> list[ContextRow]:
    """Return a row of the list for each context, in their order."""
    load_outcome_bodies(contexts)
    flagged = (
        set(AssemblyFlag.objects.filter(assembly__in=contexts).values_list("pk", flat=True)) if contexts else set()
    )
    address = address_pattern("context", ANY_ID)
    return [_context_row(context, address.format(context.id), context.id in flagged) for context in contexts]


def _context_row(context: Assembly, address: str, is_flagged: bool) -> ContextRow:
    return ContextRow(
        id=str(context.id),
        address=address,
        created=context.created,
        whose=" · ".join(filter(None, (context.agent_name, context.team_name))),
        topic=Truncator(context.topic).chars(TOPIC) or _("No topic"),
        profile=context.profile_name,
        share=bar_width(context.tokens, context.budget),
        is_over=context.tokens > context.budget,
        tokens=_("%(tokens)s of %(budget)s") % {"tokens": intcomma(context.tokens), "budget": intcomma(context.budget)},
        left_out=intcomma(context.left_out),
        outcomes=((OutcomeTag(_("flagged"), "plain"),) if is_flagged else ()) + outcome_tags(context),
        took=_("%(ms)s ms") % {"ms": intcomma(context.assembly_ms)},
    )


def outcome_tags(context: Assembly) -> tuple[OutcomeTag, ...]:
    """Return the tags of a context: preview or test, then warnings, else the sections that reached their limit."""
    purpose = context.effective_purpose
    named = (OutcomeTag(str(PURPOSE_TAGS[purpose]), "plain"),) if purpose in PURPOSE_TAGS else ()
    return (*named, *_limit_outcomes(context))


def _limit_outcomes(context: Assembly) -> tuple[OutcomeTag, ...]:
    if context.warnings:
        return tuple(OutcomeTag(warning_label(code), "bad") for code in context.warnings)
    shortage = shortage_sentence(context)
    return (OutcomeTag(shortage, "warn") if shortage else OutcomeTag(_("within limits"), "good"),)


def reference_title(thing: ReferenceQuery, principal: Principal) -> str:
    """Return the title of an item; its ref if the principal may not read it or it is deleted."""
    ref = Ref.parse(thing.named)
    title = _mention(KINDS[ref.kind], UUID(ref.id), principal) if ref.kind in KINDS and _is_id(ref.id) else ""
    if not title:
        return thing.ref
    return _("%(title)s, version %(version)s") % {"title": title, "version": thing.version} if thing.version else title


def _is_id(text: str) -> bool:
    try:
        return bool(UUID(text))
    except ValueError:
        return False


def _mention(kind: ItemKind, id_: UUID, principal: Principal) -> str:
    rows = kind.rows(agents=Agent.objects.visible_to(principal), teams=Team.objects.visible_to(principal))
    row = rows.filter(id=id_).first()
    return kind.mention(row) if row else ""


FilterPhrase = Callable[[ContextFilterForm, str], str]
"""A function that returns a filter's phrase in the sentence, from the form and the filter's value."""


def filter_sentence(form: ContextFilterForm) -> str:
    """Return the sentence that says which contexts the filters select; empty without filters."""
    values, said = form.cleaned_data, filter_phrases(form)
    when = [_when(values)] if any(values.get(name) for name in ("when", "since", "until")) else []
    parts = (
        [said[name] for name in FILTERS_BEFORE_NOUN if name in said]
        + when
        + [said[name] for name in FILTERS_AFTER_NOUN if name in said]
    )
    whole = ", ".join(parts)
    return whole[:1].upper() + whole[1:]


def filter_phrases(form: ContextFilterForm) -> dict[str, str]:
    """Return the phrase of each filter that is set, by its name, but for those of the time."""
    values = form.cleaned_data
    return {name: words(form, str(values[name])) for name, words in FILTER_PHRASES.items() if values.get(name)}


def _when(values: Mapping[str, str]) -> str:
    since, until = values.get("since"), values.get("until")
    if since and until:
        return _("from %(since)s to %(until)s") % {"since": since, "until": until}
    if since or until:
        return _("since %s") % since if since else _("until %s") % until
    return {"today": _("today"), "week": _("last 7 days"), "month": _("last 30 days")}[values["when"]]


def _choice_label(form: ContextFilterForm, name: str, value: str) -> str:
    """Return the label of a field's choice; the value itself if it is not a choice."""
    return str(dict(form.fields[name].widget.choices).get(value, value))


def _agent(form: ContextFilterForm, value: str) -> str:
    return _("agent: %s") % _choice_label(form, "agent", value)


def _team(form: ContextFilterForm, value: str) -> str:
    return _("team: %s") % _choice_label(form, "team", value)


def _requested_by(form: ContextFilterForm, value: str) -> str:
    who = _("you") if value == "me" else _choice_label(form, "requested_by", value)
    return _("requested by: %s") % who


def _purpose(_form: ContextFilterForm, value: str) -> str:
    return {"agent": _("by agents"), "preview": _("previews"), "test": _("tests")}[value]


def _profile(_form: ContextFilterForm, value: str) -> str:
    return _("profile: %s") % value


def _words(_form: ContextFilterForm, value: str) -> str:
    return _("words: “%s”") % value


def _outcome(_form: ContextFilterForm, value: str) -> str:
    return _("truncated or with a warning") if value == "truncated" else _("with excluded items")


def _warning(_form: ContextFilterForm, value: str) -> str:
    return _("warning: “%s”") % warning_label(value)


def _reason(_form: ContextFilterForm, value: str) -> str:
    return _("decision: %s") % reason_label(value)


def _contains(form: ContextFilterForm, _value: str) -> str:
    return _("contains: %s") % _title(form, form.wanted.contains)


def _omits(form: ContextFilterForm, _value: str) -> str:
    return _("excludes: %s") % _title(form, form.wanted.omits)


def _file_loss(form: ContextFilterForm, _value: str) -> str:
    ref = form.wanted.file_loss
    if ref == ANY_FILE:
        return _("a file truncated or excluded")
    return _("truncated or excluded: %s") % _title(form, ReferenceQuery(ref, ref) if ref else None)


def _title(form: ContextFilterForm, thing: ReferenceQuery | None) -> str:
    return reference_title(thing, form.visible.principal) if thing else ""


FILTERS_BEFORE_NOUN = ("agent", "team", "requested_by")
FILTERS_AFTER_NOUN = (
    "purpose",
    "profile",
    "outcome",
    "warning",
    "reason",
    "included_ref",
    "excluded_ref",
    "file_loss",
    "q",
)
FILTER_PHRASES: Mapping[str, FilterPhrase] = {
    "agent": _agent,
    "team": _team,
    "requested_by": _requested_by,
    "purpose": _purpose,
    "profile": _profile,
    "outcome": _outcome,
    "warning": _warning,
    "reason": _reason,
    "included_ref": _contains,
    "excluded_ref": _omits,
    "file_loss": _file_loss,
    "q": _words,
}
