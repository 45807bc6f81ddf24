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
from assembly.sources.files import (
    agent_files,
    agent_files_query,
    daily_logs,
    daily_logs_query,
    team_files,
    team_files_query,
)
from assembly.sources.memories import agent_memories, agent_memories_query, team_memories, team_memories_query
from assembly.sources.patterns import patterns
from assembly.sources.relations import relations
from assembly.sources.request_inputs import additional_context, turns
from assembly.sources.rule_inclusions import rule_inclusions
from assembly.sources.task_stack import task_stack
from assembly.sources.threads import threads
from assembly.sources.tools import tools

SOURCES: dict[str, Source] = {
    "agent_files": Source(agent_files, "custom", "Files of the agent", scope="noosphere", reading=agent_files_query),
    "team_files": Source(team_files, "custom", "Files of the team", scope="noosphere", reading=team_files_query),
    "daily_logs": Source(daily_logs, "recent", "Daily logs", scope="experience", reading=daily_logs_query),
    "team_memories": Source(
        team_memories, "semantic", "Memories of the team", scope="noosphere", reading=team_memories_query
    ),
    "agent_memories": Source(
        agent_memories, "semantic", "Memories of the agent", scope="experience", reading=agent_memories_query
    ),
    "recent_events": Source(recent_events, "recent", "Events", scope="workshop"),
    "semantic_content": Source(semantic_content, "semantic", "Passages of documents", scope="library"),
    "entities": Source(entities, "entity", "Entities", scope="library", needs=frozenset({"mentioned"})),
    "relations": Source(
        relations, "relation", "Relations between them", scope="library", needs=frozenset({"mentioned"})
    ),
    "patterns": Source(patterns, "pattern", "Patterns", scope="experience", needs=frozenset({"mentioned"})),
    "task_stack": Source(task_stack, "custom", "Task stack", scope="workshop", needs=frozenset({"task"})),
    "tools": Source(tools, "custom", "Tools", scope="workshop"),
    "tool_results": Source(tool_results, "recent", "Results of tools", scope="workshop"),
    "threads": Source(threads, "custom", "Narrative threads", scope="library"),
    "external": Source(external_results, "custom", "External sources", scope="library", remote=True),
    "open_files": Source(open_files, "custom", "Open documents", scope="library"),
    "turns": Source(turns, "custom", "The conversation so far", scope="workshop"),
    "rule_inclusions": Source(rule_inclusions, "custom", "What rules always include", scope="noosphere"),
    "additional_context": Source(additional_context, "custom", "The request itself", scope="workshop"),
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
