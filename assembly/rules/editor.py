"""The two ways of writing a rule: fields to fill in, and its text. Whatever was typed in one goes over to the other."""

from dataclasses import dataclass
from typing import Literal

from django.http import QueryDict
from django.utils.translation import gettext as _

from assembly.profiles.yaml_reader import MAX_CHARACTERS, UnreadableDocument
from assembly.rules.catalogue import parse_described_rule
from assembly.rules.form_fields import Choices
from assembly.rules.forms import RuleFields
from assembly.rules.presentation import RULE_GUIDANCE
from assembly.rules.writer import has_comments, is_nested

FieldChoices = dict[str, Choices]
EditorAction = Literal["add", "switch"]


@dataclass(frozen=True, slots=True)
class RuleEditor:
    """What is being written: fields, or else a text. `reason` says why the text cannot be shown as fields."""

    fields: RuleFields | None
    text: str = ""
    reason: str = ""

    def content(self) -> str | None:
        """The rule's text; None where fields cannot be used, which then say why."""
        if self.fields is None:
            return self.text
        return self.fields.text() if self.fields.is_valid() else None


def editor_for(content: str, names: FieldChoices, *, as_text: bool) -> RuleEditor:
    """For a rule's text, "" for a new one: as fields, unless these could not say all of it."""
    if as_text:
        return RuleEditor(None, content or RULE_GUIDANCE.example)
    return _as_fields(content, names) if content else RuleEditor(RuleFields.blank(names))


def editor_from_post(data: QueryDict, names: FieldChoices) -> RuleEditor:
    """As a browser sent it."""
    if "content" in data:
        return RuleEditor(None, str(data["content"]).replace("\r\n", "\n"))
    return RuleEditor(RuleFields.posted(data, names))


def apply_action(editor: RuleEditor, turn: EditorAction, names: FieldChoices) -> RuleEditor:
    """With one more line; or in the other way of writing, if that can say it: else as it is, with the reason."""
    if editor.fields is None:
        return _as_fields(editor.text, names)
    if turn == "add":
        return RuleEditor(editor.fields.unbound_copy())
    if editor.fields.is_empty:
        return RuleEditor(None, RULE_GUIDANCE.example)
    content = editor.content()
    return editor if content is None else RuleEditor(None, content)


def is_same_rule(content: str, stored: str) -> bool:
    """Whether two texts are the same rule, however they are laid out."""
    try:
        one, other = parse_described_rule(content), parse_described_rule(stored)
    except UnreadableDocument:
        return False
    return one == other


def _as_fields(content: str, names: FieldChoices) -> RuleEditor:
    try:
        described = parse_described_rule(content[: MAX_CHARACTERS + 1])
    except UnreadableDocument as fault:
        reason = _("The form cannot show this text before it can be read. %(fault)s") % {"fault": fault.detail}
        return RuleEditor(None, content, reason)
    if is_nested(described.rule.when):
        return RuleEditor(None, content, _("The form cannot show conditions within conditions: all, any and not."))
    if has_comments(content):
        return RuleEditor(None, content, _("The text has comments, which the form would lose."))
    return RuleEditor(RuleFields.of(described.description, described.rule, names))
