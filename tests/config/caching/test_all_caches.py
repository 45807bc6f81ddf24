"""Everything that a process remembers is counted on `/metrics` and bounded in bytes, or explained here.

The code is walked: each function whose results are cached, each cache that is constructed, and each collection of a
module, or of an object of a module, that begins empty and so grows while the process runs.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

ROOMS = ("agents", "assembly", "config", "memories", "privacy", "teams")
CACHES = {"LRUCache", "TTLCache", "TLRUCache", "LFUCache", "FIFOCache", "RRCache"}
"""Classes of cachetools."""
DECORATORS = {"cache", "lru_cache", "cached", "cachedmethod"}
COLLECTIONS = {
    "dict",
    "list",
    "set",
    "deque",
    "OrderedDict",
    "defaultdict",
    "Counter",
    "WeakKeyDictionary",
    "bytearray",
}
COUNTED = {"ProcessCache", "cached_function", "cached_texts", "cached_words"}
"""What is bounded in bytes and on `/metrics`."""

# Each with the bytes that it takes at most, and by the path of the file and the name there.
REGISTERED = dict.fromkeys(
    (
        "agents/context_profiles.py:registered",
        "assembly/comparison/presentation.py:NO_ADDRESSES",
        "assembly/conflicts/detection/caches.py:_caches",
        "assembly/engine/tokenizers.py:_count_caches",
        "assembly/records/followers.py:followers",
        "config/keys/store.py:_forgetters",
        "memories/archive/sections.py:SECTIONS",
        "memories/jobs/periodic.py:PERIODIC_TASKS",
        "memories/jobs/services.py:KINDS",
        "memories/lifecycle/hourly_run.py:further_steps",
        "memories/services/agent_item.py:_preparations",
        "teams/versioned_text/publication.py:registered",
    ),
    10_000,
)
"""Filled when modules are loaded, and never after that."""
ONE_OF_EACH = dict.fromkeys(
    (
        "assembly/contexts/links.py:address_pattern",
        "assembly/pipeline/shared_answers.py:shared_answers",
        "assembly/preassembly/reading_ahead.py:preassembly",
        "assembly/records/change_counters.py:_counts_sql",
        "assembly/records/insert_sql.py:_insert_fields",
        "assembly/records/insert_sql.py:_insert_sql",
        "config/caching/sealing.py:_cipher",
        "config/db/replicas.py:_conditions",
        "config/db/statements.py:_select_all",
        "config/http/client_address.py:_parse_networks",
        "config/http/encrypted_fields.py:_cipher",
        "config/keys/store.py:_master_key",
        "config/postgres/attachment.py:_ATTACHMENTS",
        "memories/api/agent_item.py:items_serializer",
        "memories/archive/memory_markdown.py:exported_columns",
        "memories/embeddings/registry.py:find_embedder",
        "memories/embeddings/splitting.py:_splitter",
        "memories/embeddings/topic_vectors.py:topic_vectors",
        "memories/lifecycle/frozen_texts.py:_object_store",
        "memories/lifecycle/listed_texts.py:_readers",
        "memories/search/languages.py:_languages_of_words",
        "teams/api/serializers.py:page_serializer",
        "teams/api/view.py:_cached_serializer",
        "teams/legal_holds.py:_hold_sql",
        "teams/user_settings.py:time_zones",
    ),
    50_000,
)
"""One value for each setting, table, class or language that the program has: as many after a year as after an hour."""
LOADED = dict.fromkeys(
    (
        "assembly/conflicts/detection/antonyms.py:_antonyms",
        "assembly/conflicts/detection/classifier.py:load_classifier",
        "assembly/conflicts/detection/lexicon.py:_stemmer",
        "assembly/conflicts/detection/lexicon.py:load_lexicon",
        "assembly/conflicts/detection/lexicon.py:load_units",
        "assembly/conflicts/detection/quantities.py:_patterns",
        "assembly/conflicts/detection/quantities.py:_signs",
        "assembly/conflicts/language_model/model_in_use.py:_model_of",
        "assembly/engine/tokenizers.py:get_tokenizer",
        "config/http/outbound/client.py:tls_context",
        "memories/embeddings/fastembed.py:_load",
        "memories/embeddings/wordllama.py:_load",
    ),
    0,
)
"""Models, lexicons and certificates, loaded once: a part of the program, not a cache."""
SMALL_VALUES = {
    "agents/quotas/headers.py:_policies": 500_000,  # 1,000 lines of a header
    "assembly/contexts/scores.py:_localized_label": 100_000,
    "assembly/engine/linear_ranker.py:_share_name": 50_000,
    "assembly/engine/priority.py:_weights_and_sum": 100_000,
    "assembly/engine/refs.py:document_of": 2_000_000,  # 4,096 pairs of refs
    "assembly/engine/rendering.py:_paragraph_ends": 5_000_000,  # the paragraphs of one text
    "assembly/masking/number_plans.py:_plan_of_code": 1_500_000,  # the numbering plans of all country codes
    "assembly/masking/number_plans.py:_plans_of_regions": 500_000,  # those of the regions of the settings
    "assembly/pipeline/telemetry.py:with_labels": 500_000,
    "assembly/preassembly/reading_ahead.py:Preassembly._made": 300_000,
    "assembly/preassembly/reading_ahead.py:Preassembly._seen": 500_000,
    "assembly/simulation/draft_preview/size.py:measure_text": 100_000,
    "config/db/statements.py:_join_statements": 8_000_000,  # 256 combinations of the program's statements
    "config/server/callers.py:CallerCache._known": 6_000_000,  # 10,000 callers
    "config/server/request_counts.py:_number": 5_000_000,  # 20,000 names
    "teams/templatetags/words.py:_navigation_link": 100_000,
    "teams/templatetags/words.py:_page_address": 200_000,
}
"""A fixed number of small values."""
NO_CACHES = dict.fromkeys(
    (
        "agents/quotas/uses.py:UseCounter._active",
        "agents/quotas/uses.py:UseCounter._limits",
        "agents/quotas/uses.py:UseCounter._pending",
        "agents/quotas/uses.py:UseCounter._rows",
        "agents/quotas/uses.py:UseCounter._stored",
        "agents/quotas/uses.py:UseCounter.rows",
        "assembly/engine/rule_effects.py:RuleEffect.detail",
        "assembly/engine/token_ledger.py:FixedText.found",
        "assembly/preassembly/reading_ahead.py:Preassembly._shared",
    ),
    0,
)
"""What is to be written, a few numbers for each agent, team and key; defaults of immutable values."""
COUNTED_THEMSELVES = dict.fromkeys(
    (
        "assembly/engine/rendering.py:_cached_edited_text",
        "assembly/engine/tokenizers.py:_CountCache._old",
        "assembly/engine/tokenizers.py:_CountCache._young",
        "assembly/records/insert_sql.py:_StoredPieces._known",
    ),
    0,
)
"""On /metrics as rendered_texts, token_counts and stored_pieces, each with its limit."""
EXPLAINED = {**REGISTERED, **ONE_OF_EACH, **LOADED, **SMALL_VALUES, **NO_CACHES, **COUNTED_THEMSELVES}
MOST_EXPLAINED_BYTES = 32_000_000
"""Of all explained ones together, as docs/operations.md says."""


def _name_of(node: ast.expr) -> str:
    """Return the last part of the name of what is called or subscribed."""
    while isinstance(node, ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _begins_empty(value: ast.expr | None) -> bool:
    if isinstance(value, ast.Dict | ast.List | ast.Set):
        return not (value.keys if isinstance(value, ast.Dict) else value.elts)
    if not isinstance(value, ast.Call):
        return False
    return _name_of(value) in COLLECTIONS and not [one for one in value.args if not isinstance(one, ast.Name)]


def _assigned(statement: ast.stmt) -> tuple[list[str], ast.expr | None]:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    targets = [statement.target] if isinstance(statement, ast.AnnAssign) else targets
    names = [one.attr if isinstance(one, ast.Attribute) else getattr(one, "id", "") for one in targets]
    return names, getattr(statement, "value", None)


def _remembering(path: str, tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield what the module may remember values in: path and name, and how."""
    found = [*_functions(tree), *_of_module(tree)]
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            found += _of_class(node, is_lasting=node.name in _lasting(tree) or "Cache" in node.name)
    yield from ((f"{path}:{name}", how) for name, how in found)


def _lasting(tree: ast.Module) -> set[str]:
    """The classes of which the module keeps an object."""
    made = [one.value for one in tree.body if isinstance(one, ast.Assign | ast.AnnAssign) and one.value]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(_name_of(one) == "cache" for one in node.decorator_list):
            made += [one.value for one in ast.walk(node) if isinstance(one, ast.Return) and one.value]
    return {_name_of(one) for one in made}


def _functions(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            names = map(_name_of, node.decorator_list)
            yield from ((node.name, name) for name in names if name in DECORATORS | COUNTED)


def _of_module(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in tree.body:
        names, value = _assigned(node)
        if names and _begins_empty(value):
            yield names[0], "collection"
        elif names and isinstance(value, ast.Call) and (name := _name_of(value)) in DECORATORS | CACHES | COUNTED:
            yield names[0], name


def _of_class(node: ast.ClassDef, *, is_lasting: bool) -> Iterator[tuple[str, str]]:
    for inner in ast.walk(node):
        names, value = _assigned(inner) if isinstance(inner, ast.stmt) else ([], None)
        if names and isinstance(value, ast.Call) and (name := _name_of(value)) in CACHES | COUNTED:
            yield f"{node.name}.{names[0]}", name
        elif names and is_lasting and _begins_empty(value):
            yield f"{node.name}.{names[0]}", "collection"


def remembering() -> dict[str, str]:
    found: dict[str, str] = {}
    for room in ROOMS:
        for file in sorted((Path(settings.BASE_DIR) / room).rglob("*.py")):
            if "migrations" not in file.parts:
                path = str(file.relative_to(settings.BASE_DIR))
                found.update(_remembering(path, ast.parse(file.read_text(encoding="utf-8"))))
    return found


def test_whatever_remembers_is_counted_or_explained() -> None:
    found = remembering()
    assert {name for name, how in found.items() if how not in COUNTED} == set(EXPLAINED)
    assert sum(EXPLAINED.values()) <= MOST_EXPLAINED_BYTES
    assert sum(how in COUNTED for how in found.values()) > 20, "else the walk would have missed them"


def _named_caches() -> list[str]:
    """The names of all caches in the memory of processes, as they are in the code."""
    names = []
    for room in ROOMS:
        for file in (Path(settings.BASE_DIR) / room).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call):
                    names += _cache_names(node)
    return names


def _cache_names(node: ast.Call) -> list[str]:
    called, given = _name_of(node), [one.value for one in node.args if isinstance(one, ast.Constant)]
    if called == "AssemblyCache":
        return [str(ast.literal_eval(one.value)) for one in node.keywords if one.arg == "name"]
    if called in {"ProcessCache", "cached_function"}:
        return [str(one) for one in given[:1] if isinstance(one, str)]
    return [str(given[1])] if called == "CacheUsage" and len(given) == 2 else []


def test_each_has_a_name_of_its_own_which_the_handbook_lists_with_its_limit() -> None:
    names = ["answers", *_named_caches()]
    assert len(set(names)) == len(names)
    text = (Path(settings.BASE_DIR) / "docs" / "operations.md").read_text(encoding="utf-8")
    table = text.split("| cache | limit | holds |")[1].split("\n\n")[0]
    rows = [line.split("|") for line in table.splitlines() if line.startswith("| `")]
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row[1])} == set(names)
    assert all(re.search(r"\d MB", row[2]) for row in rows)


def test_the_walk_finds_what_is_remembered() -> None:
    code = """
from functools import cache, lru_cache
known = {}
table = {"a": 1}
@lru_cache
def one(): ...
@functools.cache
def two(): ...
three = lru_cache(5)(one)
four: dict[str, int] = LRUCache(3)
class Kept:
    def __init__(self):
        self.values = OrderedDict()
        self.cache = TTLCache(1, 2)
kept = Kept()
class Passing:
    def __init__(self):
        self.values = {}
"""
    assert dict(_remembering("x", ast.parse(code))) == {
        "x:known": "collection", "x:one": "lru_cache", "x:two": "cache", "x:three": "lru_cache", "x:four": "LRUCache",
        "x:Kept.values": "collection", "x:Kept.cache": "TTLCache",
    }  # fmt: skip
