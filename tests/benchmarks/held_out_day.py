"""A day of the demo's agents that was not looked at when the predictors were made, in another shape than the first.

Wren, who asks nothing on the first day, asks most; some questions are the same each day, some have other words each
day, some are never asked again; the order changes from day to day within each part of it, and agents record what
happened between their questions.
"""

import random
from dataclasses import dataclass

SAME = "same"
"""Asked each day in the same words."""
OTHER_WORDS = "other words"
NEVER_AGAIN = "never again"


@dataclass(frozen=True, slots=True)
class Step:
    """A question; with `event`, the agent records an event of this type just before."""

    agent: str
    team: str
    topic: str
    event: str = ""
    kind: str = SAME


VISITS, STORY = "visitor-care", "story-room"
# One part of the day per tuple. A text is asked each day; of several, one each day; `{day}` makes it another each day.
PARTS: tuple[tuple[tuple[str, str, str | tuple[str, ...], str], ...], ...] = (
    (
        ("wren", VISITS, "Which stops are muddy after rain?", ""),
        ("wren", VISITS, "Who is on duty at the Rope Walk?", "shift_begun"),
        ("wren", VISITS, ("When is high water?", "What time does the tide come in?", "High tide today"), ""),
        ("wren", STORY, "What did the field test say about the second stop?", ""),
        ("otis", VISITS, "Reply {day} to a school that wants to bring thirty pupils", "mail"),
    ),
    (
        ("otis", VISITS, "May dogs come along?", "mail"),
        ("otis", VISITS, ("The app does not load", "A phone shows no map", "Nothing plays on an old phone"), "mail"),
        ("wren", STORY, "Which recordings are still missing?", ""),
        ("wren", STORY, ("How loud is the bell?", "Is the bell too loud?", "Volume of the bell"), ""),
        ("edda", STORY, "Which sources name the ferryman?", ""),
        ("edda", STORY, "Check number {day} of the harbour register", ""),
    ),
    (
        ("wren", VISITS, "What do visitors ask most?", "survey_read"),
        ("wren", VISITS, "What did we promise about lamps?", ""),
        ("luna", STORY, ("End of chapter five", "How does chapter five end?", "The last page of chapter five"), ""),
        ("wren", VISITS, "Visitor {day} lost a glove at the Net Loft", "mail"),
        ("otis", VISITS, "Where are the toilets?", "mail"),
    ),
    (
        ("wren", STORY, "What is open for tomorrow?", "shift_ended"),
        ("wren", VISITS, "Which stops are muddy after rain?", ""),
        ("edda", STORY, ("Was the Tar House ever on fire?", "Fires at the Tar House", "Did it burn in 1911?"), ""),
        ("luna", STORY, "Idea {day} for a sound between two stops", ""),
        ("luna", STORY, "What must chapter six not give away?", ""),
    ),
)


def held_out_day(number: int) -> list[Step]:
    """Return the steps of the day with this number, from 1; the same each time."""
    chance = random.Random(number)
    steps = []
    for part in PARTS:
        shuffled = list(part)
        # Two neighbours change places: a day is never quite as the one before.
        place = chance.randrange(len(shuffled) - 1)
        shuffled[place], shuffled[place + 1] = shuffled[place + 1], shuffled[place]
        steps += [_step(*one, number) for one in shuffled]
    return steps


def _step(agent: str, team: str, topic: str | tuple[str, ...], event: str, number: int) -> Step:
    if isinstance(topic, tuple):
        return Step(agent, team, topic[(number - 1) % len(topic)], event, OTHER_WORDS)
    kind = NEVER_AGAIN if "{day}" in topic else SAME
    return Step(agent, team, topic.format(day=number), event, kind)
