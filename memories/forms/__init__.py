"""These Django forms edit memories and other items of agents; each module is about one kind or a few."""

from memories.forms.agent_item import (
    AgentItemForm,
    DocumentForm,
    EntityForm,
    GoalForm,
    PatternForm,
    ResultForm,
    ThreadForm,
    ToolForm,
    VersionForm,
)
from memories.forms.graph import GraphForm, NewRelationForm, RelationForm
from memories.forms.list_filters import (
    DocumentSearch,
    EntitySearch,
    EventFilter,
    ItemSearch,
    PatternSearch,
    SearchForm,
    ThreadSearch,
    ToolSearch,
)
from memories.forms.memory import (
    MemoryEditForm,
    MemoryForm,
    MemoryListForm,
    MergeForm,
    RetireForm,
    format_seen_versions,
)

__all__ = [
    "AgentItemForm",
    "DocumentForm",
    "DocumentSearch",
    "EntityForm",
    "EntitySearch",
    "EventFilter",
    "GoalForm",
    "GraphForm",
    "ItemSearch",
    "MemoryEditForm",
    "MemoryForm",
    "MemoryListForm",
    "MergeForm",
    "NewRelationForm",
    "PatternForm",
    "PatternSearch",
    "RelationForm",
    "ResultForm",
    "RetireForm",
    "SearchForm",
    "ThreadForm",
    "ThreadSearch",
    "ToolForm",
    "ToolSearch",
    "VersionForm",
    "format_seen_versions",
]
