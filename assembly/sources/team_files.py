"""The files of the team that the agent works in now: the section `goals` is its GOALS, and so on."""

from collections.abc import Sequence

from assembly.engine.profile import Section
from assembly.sources.base import Gathered, Situation
from assembly.sources.files import file_candidates
from teams.models import TeamFile


def team_files(situation: Situation, sections: Sequence[Section]) -> Gathered:
    """The files that the sections are named after; none without a team."""
    return file_candidates(TeamFile.objects.filter(team=situation.team), sections)
