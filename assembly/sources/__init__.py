"""Sources provide the candidates for a context. A new source is one module and one line here."""

from assembly.sources.base import (
    ConversationTurn,
    GatherContext,
    MentionedEntity,
    RequestFilters,
    Source,
    SourceQuery,
    SourceResult,
)
from assembly.sources.documents import open_files, semantic_content
from assembly.sources.entities import entities
from assembly.sources.events import recent_events, tool_results
from assembly.sources.external.source import external_results
from assembly.sources.file_passages import agent_files, daily_logs, organisation_files, team_files
from assembly.sources.files import agent_files_query, daily_logs_query, team_files_query
from assembly.sources.memories import agent_memories, agent_memories_query, team_memories, team_memories_query
from assembly.sources.patterns import patterns
from assembly.sources.project_structure import project_structure
from assembly.sources.relations import relations
from assembly.sources.request_inputs import additional_context, turns
from assembly.sources.rule_inclusions import rule_inclusions
from assembly.sources.task_stack import task_stack
from assembly.sources.threads import threads
from assembly.sources.tools import tools

SOURCES: dict[str, Source] = {
    "organisation_files": Source(organisation_files, "semantic", "Files of the organisation"),
    "agent_files": Source(agent_files, "custom", "Files of the agent", reading=agent_files_query),
    "team_files": Source(team_files, "custom", "Files of the team", reading=team_files_query),
    "daily_logs": Source(daily_logs, "recent", "Daily logs", reading=daily_logs_query),
    "team_memories": Source(team_memories, "semantic", "Memories of the team", reading=team_memories_query),
    "agent_memories": Source(agent_memories, "semantic", "Memories of the agent", reading=agent_memories_query),
    "recent_events": Source(recent_events, "recent", "Events"),
    "semantic_content": Source(semantic_content, "semantic", "Passages of documents"),
    "entities": Source(entities, "entity", "Entities", needs=frozenset({"mentioned"})),
    "relations": Source(relations, "relation", "Relations between them", needs=frozenset({"mentioned"})),
    "patterns": Source(patterns, "pattern", "Patterns", needs=frozenset({"mentioned"})),
    "task_stack": Source(task_stack, "custom", "Task stack", needs=frozenset({"task"})),
    "tools": Source(tools, "custom", "Tools"),
    "tool_results": Source(tool_results, "recent", "Results of tools"),
    "threads": Source(threads, "custom", "Narrative threads"),
    "external": Source(external_results, "custom", "External sources", remote=True),
    "open_files": Source(open_files, "custom", "Open documents"),
    "project_structure": Source(project_structure, "custom", "Project structure"),
    "turns": Source(turns, "custom", "The conversation so far"),
    "rule_inclusions": Source(rule_inclusions, "custom", "What rules always include"),
    "additional_context": Source(additional_context, "custom", "The request itself"),
}

__all__ = [
    "SOURCES",
    "ConversationTurn",
    "GatherContext",
    "MentionedEntity",
    "RequestFilters",
    "Source",
    "SourceQuery",
    "SourceResult",
]
