"""The forms of what agents and teams keep, one file per noun."""

from memories.forms.agent_item import (
    DocumentForm,
    EntityForm,
    GoalForm,
    KeptForm,
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
    KeptSearch,
    PatternSearch,
    SearchForm,
    ThreadSearch,
    ToolSearch,
)
from memories.forms.memory import MemoryEditForm, MemoryForm, MemoryListForm, MergeForm, RetireForm, ids_of, seen_of

__all__ = [
    "DocumentForm",
    "DocumentSearch",
    "EntityForm",
    "EntitySearch",
    "EventFilter",
    "GoalForm",
    "GraphForm",
    "KeptForm",
    "KeptSearch",
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
    "ids_of",
    "seen_of",
]
