"""What each kind of text is for, and what makes a good one: the words beside the editor."""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

Text = str | Promise


@dataclass(frozen=True, slots=True)
class Guidance:
    """`purpose` ends the page's heading ("Goals: what this team is trying to achieve"); `example` is Markdown."""

    name: Text
    purpose: Text
    question: Text
    advice: tuple[Text, ...]
    example: str


TEAM_FILES = {
    "GOALS": Guidance(
        name=_("Goals"),
        purpose=_("what this team is trying to achieve"),
        question=_("What makes good goals"),
        advice=(
            _("Say what done looks like, and by when."),
            _("One line per goal, the most important first: what stands last is cut first."),
            _("Take out what is finished. How to work belongs in Rules."),
        ),
        example=(
            "Ship the Q1 product demo by March 15.\n\n"
            "- Three acts, twelve minutes, one story\n"
            "- Every claim shown live, no slides\n"
            "- Two dress rehearsals with pilot customers"
        ),
    ),
    "CONTEXT": Guidance(
        name=_("Context"),
        purpose=_("what a newcomer to this team needs to know"),
        question=_("What makes good context"),
        advice=(
            _("Who is who, what the project is, what happened so far, and what the words mean."),
            _("Write as you would to a colleague on the first day."),
            _("Facts that change weekly are better kept in a daily log."),
        ),
        example=(
            "We prepare the March demo of Atlas, our planning tool.\n\n"
            "- Audience: product managers of large companies\n"
            "- Mara decides about content, Jon about dates\n"
            "- “The pilot” means the three customers of 2025"
        ),
    ),
    "RULES": Guidance(
        name=_("Rules"),
        purpose=_("what everyone in this team always or never does"),
        question=_("What makes good rules"),
        advice=(
            _("Begin each with Always, Never, or Ask before."),
            _("One rule per line, so that each can be followed and checked on its own."),
            _("Give the reason in half a sentence: agents follow rules better when they know why."),
        ),
        example=(
            "- Always give prices in euros; customers compare them with their contracts\n"
            "- Never promise a date that is not in Goals\n"
            "- Ask before you write to a customer"
        ),
    ),
}
