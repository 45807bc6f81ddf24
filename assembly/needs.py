"""What several sources build on, found once before they are asked."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from assembly.engine.signals import names_in, parse_signals
from assembly.sources import Situation
from assembly.sources.base import Need
from assembly.sources.entities import mentions
from memories.services.task_stack import task_peek


def with_task(situation: Situation) -> Situation:
    """The situation with the current task. Where the topic is empty, the task's goal serves as the query."""
    task = task_peek(agent=situation.agent, session=situation.session)
    if task is None or situation.topic.strip():
        return replace(situation, task=task)
    goal = task.goal
    return replace(situation, task=task, topic=goal, signals=parse_signals(goal))


def with_mentioned(situation: Situation) -> Situation:
    """The situation with the entities that the query names."""
    names = names_in(situation.topic)
    return replace(situation, mentioned=mentions(situation, names)) if names else situation


NEEDS: Mapping[Need, Callable[[Situation], Situation]] = {"task": with_task, "mentioned": with_mentioned}
"""In the order in which they are found: a task may bring the words in which entities are mentioned."""
