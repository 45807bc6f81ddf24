"""The files of the team that the agent works in now: the section `goals` is its GOALS, and so on."""

from collections.abc import Sequence

from assembly.engine.profile import Section
from assembly.sources.base import Gathered, Reading, Situation
from assembly.sources.files import files_reading
from teams.models import TeamFile


def team_files(situation: Situation, sections: Sequence[Section]) -> Gathered:
    """The files that the sections are named after; none without a team."""
    return team_files_reading(situation, sections).alone()


def team_files_reading(situation: Situation, sections: Sequence[Section]) -> Reading:
    """The statement that reads them."""
    if situation.team is None:
        return Reading.of_nothing(len(sections))
    return files_reading(TeamFile, "team_id", situation.team.id, sections)
