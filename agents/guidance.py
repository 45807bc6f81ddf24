"""What each text of an agent is for, and what makes a good one."""

from django.utils.translation import gettext_lazy as _

from teams.guidance import Guidance

AGENT_FILES = {
    "IDENTITY": Guidance(
        name=_("Identity"),
        purpose=_("who this agent is"),
        question=_("What makes a good identity"),
        advice=(
            _("Two to five sentences: name, job, for whom, in what tone."),
            _("Write to the agent: “You are Luna …”."),
            _("It is never cut, so every word here takes room from something else."),
        ),
        example=(
            "You are Luna, the writing assistant of the demo team. You turn rough notes into "
            "stories that product managers remember. You are warm, brief and never salesy."
        ),
    ),
    "INSTRUCTIONS": Guidance(
        name=_("Instructions"),
        purpose=_("how this agent works"),
        question=_("What makes good instructions"),
        advice=(
            _("Steps and habits, in the order in which they happen."),
            _("Say what to do when something is missing or unclear."),
            _("What holds for the whole team belongs in the team's Rules."),
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
        purpose=_("what this agent should have at hand"),
        question=_("What makes good knowledge"),
        advice=(
            _("Facts, methods, links and names that are needed again and again."),
            _("The most useful first: when it is too long, the end is cut."),
            _("Short paragraphs with headings, so that a cut leaves whole pieces."),
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
    question=_("What makes a good daily log"),
    advice=(
        _("One paragraph per thing that happened: what, with whom, what follows from it."),
        _("Agents add to it by themselves; correct them where they are wrong."),
        _("It is told for seven days. What should last belongs in Knowledge or a memory."),
    ),
    example=(
        "Rehearsed act two with Mara. The export step takes 40 seconds, too long for the stage; "
        "Jon looks for a smaller data set until Thursday."
    ),
)
