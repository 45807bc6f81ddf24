"""The two ways of writing a rule: fields to fill in, and its text. Whatever was typed in one goes over to the other."""

from dataclasses import dataclass
from typing import Literal

from django.http import QueryDict
from django.utils.translation import gettext as _

from assembly.profiles.yaml_reader import MAX_CHARACTERS, UnreadableProfile
from assembly.rules.catalogue import rule_described
from assembly.rules.form_fields import Choices
from assembly.rules.forms import RuleFields
from assembly.rules.presentation import RULE
from assembly.rules.writer import has_comments, is_nested

Names = dict[str, Choices]
Turn = Literal["add", "switch"]


@dataclass(frozen=True, slots=True)
class Editor:
    """What is being written: fields, or else a text. `reason` says why the text cannot be shown as fields."""

    fields: RuleFields | None
    text: str = ""
    reason: str = ""

    def content(self) -> str | None:
        """The rule's text; None where fields cannot be used, which then say why."""
        if self.fields is None:
            return self.text
        return self.fields.text() if self.fields.is_valid() else None


def editor_for(content: str, names: Names, *, as_text: bool) -> Editor:
    """For a rule's text, "" for a new one: as fields, unless these could not say all of it."""
    if as_text:
        return Editor(None, content or RULE.example)
    return _as_fields(content, names) if content else Editor(RuleFields.blank(names))


def editor_posted(data: QueryDict, names: Names) -> Editor:
    """As a browser sent it."""
    if "content" in data:
        return Editor(None, str(data["content"]).replace("\r\n", "\n"))
    return Editor(RuleFields.posted(data, names))


def turned(editor: Editor, turn: Turn, names: Names) -> Editor:
    """With one more line; or in the other way of writing, if that can say it: else as it is, with the reason."""
    if editor.fields is None:
        return _as_fields(editor.text, names)
    if turn == "add":
        return Editor(editor.fields.as_typed())
    if editor.fields.is_empty:
        return Editor(None, RULE.example)
    content = editor.content()
    return editor if content is None else Editor(None, content)


def says_the_same(content: str, stored: str) -> bool:
    """Whether two texts are the same rule, however they are laid out."""
    try:
        one, other = rule_described(content), rule_described(stored)
    except UnreadableProfile:
        return False
    return one == other


def _as_fields(content: str, names: Names) -> Editor:
    try:
        described = rule_described(content[: MAX_CHARACTERS + 1])
    except UnreadableProfile as fault:
        reason = _("The form cannot show this text before it can be read. %(fault)s") % {"fault": fault.detail}
        return Editor(None, content, reason)
    if is_nested(described.rule.when):
        return Editor(None, content, _("The form cannot show conditions within conditions: all, any and not."))
    if has_comments(content):
        return Editor(None, content, _("The text has comments, which the form would lose."))
    return Editor(RuleFields.of(described.description, described.rule, names))
