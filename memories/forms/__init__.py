"""The forms of what agents and teams keep, one file per noun."""

from memories.forms.document import DocumentForm
from memories.forms.entity import EntityForm
from memories.forms.event import EventFilter
from memories.forms.graph import GraphForm
from memories.forms.kept import KeptForm, VersionForm
from memories.forms.memory import MemoryEditForm, MemoryForm, RetireForm
from memories.forms.memory_list import MemoryListForm
from memories.forms.memory_merging import MergeForm, ids_of, seen_of
from memories.forms.pattern import PatternForm
from memories.forms.relation import NewRelationForm, RelationForm
from memories.forms.search import (
    DocumentSearch,
    EntitySearch,
    KeptSearch,
    PatternSearch,
    SearchForm,
    ThreadSearch,
    ToolSearch,
)
from memories.forms.task import GoalForm, ResultForm
from memories.forms.thread import ThreadForm
from memories.forms.tool import ToolForm

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
