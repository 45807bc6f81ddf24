"""This module has the help that the editor shows for each kind of text: its purpose, advice and an example."""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

Text = str | Promise


@dataclass(frozen=True, slots=True)
class Guidance:
    """The help for one kind of text.

    `purpose` ends the heading ("Goals: what this team is trying to achieve"); `example` is Markdown.
    """

    name: Text
    purpose: Text
    question: Text
    advice: tuple[Text, ...]
    example: str


TEAM_FILES = {
    "GOALS": Guidance(
        name=_("Goals"),
        purpose=_("what this team is trying to achieve"),
        question=_("Writing tips"),
        advice=(
            _("Describe what done looks like, and by when."),
            _("One line per goal, the most important first: the end is truncated first."),
            _("Remove completed goals. Ways of working belong in Guidelines."),
        ),
        example=(
            "Ship the Q1 product demo by March 15.\n\n"
            "- Three acts, twelve minutes, one story\n"
            "- Every claim shown live, no slides\n"
            "- Two dress rehearsals with pilot customers"
        ),
    ),
    "CONTEXT": Guidance(
        name=_("Background"),
        purpose=_("background for newcomers to this team"),
        question=_("Writing tips"),
        advice=(
            _("People, the project, its history, and terms."),
            _("Write as you would to a colleague on the first day."),
            _("Facts that change weekly belong in a daily log."),
        ),
        example=(
            "We prepare the March demo of Atlas, our planning tool.\n\n"
            "- Audience: product managers of large companies\n"
            "- Mara decides about content, Jon about dates\n"
            "- “The pilot” means the three customers of 2025"
        ),
    ),
    "RULES": Guidance(
        name=_("Guidelines"),
        purpose=_("what this team always or never does"),
        question=_("Writing tips"),
        advice=(
            _("Begin each line with Always, Never, or Ask before."),
            _("One guideline per line, so that each can be followed and checked."),
            _("Give the reason briefly: agents follow guidelines better when they know why."),
        ),
        example=(
            "- Always give prices in euros; customers compare them with their contracts\n"
            "- Never promise a date that is not in Goals\n"
            "- Ask before you write to a customer"
        ),
    ),
}


def organisation_guidance(title: str) -> Guidance:
    """Return the help for a file of the organisation with this title."""
    return Guidance(
        name=title,
        purpose=_("what all agents of the organisation should know"),
        question=_("Writing tips"),
        advice=(
            _("One topic per heading: agents receive single passages, not the whole text."),
            _("Write each passage so that it can be understood on its own; name what it is about."),
            _("What concerns one team only belongs in its Background or Guidelines."),
        ),
        example=(
            "## How we write\n\n"
            "We write as we speak: short sentences, no jargon. We say “you” to readers and “we” of ourselves.\n\n"
            "## Dates and prices\n\n"
            "We write dates as 14 March 2026, and prices in euros, with tax included."
        ),
    )
