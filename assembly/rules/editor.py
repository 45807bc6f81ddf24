"""A rule is edited as a form or as YAML. The content of one is carried over to the other."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from django.http import QueryDict
from django.utils.translation import gettext as _

from assembly.engine.rules import Actions, Boost, Condition
from assembly.profiles.yaml_reader import MAX_CHARACTERS, UnreadableDocument
from assembly.rules.catalogue import parse_described_rule
from assembly.rules.form_fields import Choices
from assembly.rules.forms import BOOST, INCLUDE, RuleActionForm, RuleFields
from assembly.rules.presentation import RULE_GUIDANCE
from assembly.rules.writer import has_comments, is_nested, keep_layout, rule_yaml

FieldChoices = dict[str, Choices]
EditorAction = Literal["add", "switch"] | int
"""What a button changes in the editor without saving: it adds an action, switches between form and text, or removes the
action with this number from 0.
"""


@dataclass(frozen=True, slots=True)
class RuleEditor:
    """The content of the editor: form fields, or else a text. `reason` says why the text cannot be shown as form
    fields.
    """

    fields: RuleFields | None
    text: str = ""
    reason: str = ""

    def content(self) -> str | None:
        """Return the rule's text; None if the form fields have errors."""
        if self.fields is None:
            return self.text
        return self.fields.text() if self.fields.is_valid() else None


def editor_for(content: str, names: FieldChoices, *, as_text: bool) -> RuleEditor:
    """Return the editor of a rule's text, "" for a new rule: as form fields, unless these cannot express all of it."""
    if as_text:
        return RuleEditor(None, content or RULE_GUIDANCE.example)
    return _as_fields(content, names) if content else RuleEditor(RuleFields.blank(names))


def draft_rule(asked: Mapping[str, str]) -> str:
    """Return the text of a rule with the one action that an address asks for; "" if it asks for none.

    `what` is always_include or boost, `by` and `value` select the items, `weight` is the factor of a boost.
    """
    form = RuleActionForm({name: asked.get(name, "") for name in ("what", "by", "value", "weight")})
    if "what" not in asked or not form.is_valid() or not form.is_used:
        return ""
    selector = form.selector()
    if form.action == BOOST:
        return rule_yaml("", Condition(), Actions(boost=(Boost(selector, form.cleaned_data["weight"]),)))
    return rule_yaml("", Condition(), Actions(always_include=(selector,))) if form.action == INCLUDE else ""


def editor_from_post(data: QueryDict, names: FieldChoices) -> RuleEditor:
    """Return the editor with the values that a browser sent."""
    if "content" in data:
        return RuleEditor(None, str(data["content"]).replace("\r\n", "\n"))
    return RuleEditor(RuleFields.posted(data, names))


def apply_action(editor: RuleEditor, turn: EditorAction, names: FieldChoices) -> RuleEditor:
    """Return the editor with an action more or less, or in the other form; if the other form cannot express the rule,
    unchanged with the reason.
    """
    if editor.fields is None:
        return _as_fields(editor.text, names)
    if turn == "add" or isinstance(turn, int):
        return RuleEditor(editor.fields.unbound_copy(without=None if turn == "add" else turn))
    if editor.fields.is_empty:
        return RuleEditor(None, RULE_GUIDANCE.example)
    content = editor.content()
    return editor if content is None else RuleEditor(None, content)


def with_stored_layout(content: str, stored: str) -> str:
    """Return the rule of `content`, laid out as its stored text as far as possible."""
    try:
        wanted = parse_described_rule(content)
        if wanted == parse_described_rule(stored):
            return stored
        kept = keep_layout(stored, content)
        return kept if parse_described_rule(kept) == wanted else content
    except UnreadableDocument:
        return content


def _as_fields(content: str, names: FieldChoices) -> RuleEditor:
    try:
        described = parse_described_rule(content[: MAX_CHARACTERS + 1])
    except UnreadableDocument as fault:
        reason = _("The form cannot show this text because of an error. %(fault)s") % {"fault": fault.detail}
        return RuleEditor(None, content, reason)
    if is_nested(described.rule.when):
        return RuleEditor(None, content, _("The form cannot show nested conditions: all, any and not."))
    if has_comments(content):
        return RuleEditor(None, content, _("The form would lose the comments of the text."))
    return RuleEditor(RuleFields.of(described.description, described.rule, names))
