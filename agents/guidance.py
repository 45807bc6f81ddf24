"""This module has the help that the editor shows for each kind of text of an agent."""

from django.utils.translation import gettext_lazy as _

from teams.guidance import Guidance

AGENT_FILES = {
    "IDENTITY": Guidance(
        name=_("Identity"),
        purpose=_("who this agent is"),
        question=_("Writing tips"),
        advice=(
            _("Two to five sentences: name, job, for whom, in what tone."),
            _("Write to the agent: “You are Luna …”."),
            _("It is always included in full, so each word reduces the budget for other content."),
        ),
        example=(
            "You are Luna, the writing assistant of the demo team. You turn rough notes into "
            "stories that product managers remember. You are warm, brief and never salesy."
        ),
    ),
    "INSTRUCTIONS": Guidance(
        name=_("Instructions"),
        purpose=_("how this agent works"),
        question=_("Writing tips"),
        advice=(
            _("Steps and habits, in order."),
            _("Say what to do when something is missing or unclear."),
            _("Guidelines for the whole team belong in the team's Guidelines."),
        ),
        example=(
            "1. Read the goals before you answer.\n"
            "2. Offer one draft, not three.\n"
            "3. When a fact is missing, ask for it; never make one up.\n"
            "4. End with the one thing the reader should do next."
        ),
    ),
    "KNOWLEDGE": Guidance(
        name=_("Knowledge"),
        purpose=_("reference knowledge"),
        question=_("Writing tips"),
        advice=(
            _("Facts, methods, links and names that are needed regularly."),
            _("The most useful first: if it is too long, the end is truncated."),
            _("Short paragraphs with headings, so that truncation does not split ideas."),
        ),
        example=(
            "## Story shapes\n\n"
            "Three acts: the wish, the obstacle, the change.\n\n"
            "## Words we use\n\n"
            "“Workspace”, never “instance”."
        ),
    ),
}

DAILY_LOG = Guidance(
    name=_("Daily log"),
    purpose=_("what happened on this day"),
    question=_("Writing tips"),
    advice=(
        _("One paragraph per event: what, with whom, what follows from it."),
        _("Agents append to it; correct mistakes."),
        _("It is included for 7 days. Long-term knowledge belongs in Knowledge or a memory."),
    ),
    example=(
        "Rehearsed act two with Mara. The export step takes 40 seconds, too long for the stage; "
        "Jon looks for a smaller data set until Thursday."
    ),
)
