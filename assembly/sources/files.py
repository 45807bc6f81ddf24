"""These sources return the files of the agent and of its team: a section `identity` is IDENTITY, `goals` is GOALS."""

from collections.abc import Sequence
from uuid import UUID

from agents.models import AgentFile
from assembly.engine.profile import Section
from assembly.engine.types import Candidate
from assembly.sources.base import GatherContext, SourceQuery, SourceResult, path_labels
from config.db.statements import Rows, Statement
from teams.models import TeamFile

FILES_SQL = """
SELECT id, version, file_key, content FROM {table}
WHERE {owner} = %(owner)s AND file_key = ANY(string_to_array(%(keys)s, ' '))
"""


def files_query(
    model: type[AgentFile] | type[TeamFile], column: str, owner: UUID, sections: Sequence[Section]
) -> SourceQuery:
    """One candidate per section: the file of the owner whose key is the section's."""
    section_of = {section.key.upper(): section.key for section in sections}
    sql = FILES_SQL.format(table=model._meta.db_table, owner=column)  # noqa: SLF001 - Django's documented introspection

    def gathered(rows: Rows) -> SourceResult:
        candidates = [
            Candidate(
                ref=model.ref_of(file_id, version),
                section=section_of[key],
                text=content,
                kind=key,
                labels=path_labels(key),
            )
            for file_id, version, key, content in rows
        ]
        return SourceResult(candidates, len(section_of))

    return SourceQuery(Statement(sql, {"owner": owner, "keys": " ".join(section_of)}), gathered)


def agent_files(gather_context: GatherContext, sections: Sequence[Section]) -> SourceResult:
    """The files that the sections are named after."""
    return agent_files_query(gather_context, sections).alone()


def agent_files_query(gather_context: GatherContext, sections: Sequence[Section]) -> SourceQuery:
    """The statement that reads them."""
    return files_query(AgentFile, "agent_id", gather_context.agent.id, sections)


def team_files(gather_context: GatherContext, sections: Sequence[Section]) -> SourceResult:
    """The files that the sections are named after; none without a team."""
    return team_files_query(gather_context, sections).alone()


def team_files_query(gather_context: GatherContext, sections: Sequence[Section]) -> SourceQuery:
    """The statement that reads them."""
    if gather_context.team is None:
        return SourceQuery.empty(len(sections))
    return files_query(TeamFile, "team_id", gather_context.team.id, sections)
