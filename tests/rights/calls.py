"""What a page or an endpoint calls, in the order of its source: access functions, and services that write.

A view is read as it would run from top to bottom; functions of views, and methods of the view's class, are read where
they are called. Nothing is executed.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
APPS = ("config", "teams", "agents", "memories", "assembly", "privacy")
WRITING = frozenset({
    "save", "create", "create_user", "bulk_create", "update", "bulk_update", "delete", "get_or_create",
    "update_or_create",
})  # fmt: skip
"""Methods of Django's models and querysets that write; of dictionaries `update` as well, which does no harm here."""
STATEMENTS = ("INSERT ", "UPDATE ", "DELETE ", "SELECT erase", "SELECT prune")
WEB = frozenset({
    "views", "api", "presentation", "page", "preview", "links", "home", "editor", "editor_session", "subject",
    "exact_text", "version_pair", "selection",
})  # fmt: skip
"""Modules and folders of pages and endpoints, beside those whose names end in _views or _api."""
METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True, slots=True)
class Called:
    """A function that a view calls. `is_access`: it says who may; else it is a service that writes."""

    name: str
    is_access: bool


@dataclass(frozen=True)
class Module:
    """A module's functions, classes, and where the names that it imports come from."""

    name: str
    functions: Mapping[str, ast.FunctionDef]
    classes: Mapping[str, ast.ClassDef]
    imports: Mapping[str, tuple[str, str]]

    @property
    def is_web(self) -> bool:
        """Whether it belongs to a page or an endpoint."""
        parts = self.name.split(".")
        return not WEB.isdisjoint(parts) or parts[-1].endswith(("_views", "_api"))


@dataclass
class Reading:
    """One view being read. `access` are the names of the functions that say who may."""

    access: frozenset[str]
    found: list[Called] = field(default_factory=list)
    under_way: list[tuple[str, str]] = field(default_factory=list)


@cache
def modules() -> dict[str, Module]:
    """All modules of the project, parsed."""
    found = {}
    for app in APPS:
        for file in sorted((ROOT / app).rglob("*.py")):
            if "migrations" not in file.parts:
                parts = file.relative_to(ROOT).with_suffix("").parts
                name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
                found[name] = _module(name, ast.parse(file.read_text()))
    return found


def _module(name: str, tree: ast.Module) -> Module:
    imports = {
        alias.asname or alias.name: (node.module, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    return Module(
        name,
        {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)},
        {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)},
        imports,
    )


def resolved(module: Module, name: str) -> tuple[Module, str] | None:
    """The module that defines what the name stands for in this one; None for what is not the project's."""
    for _step in range(10):
        if name in module.functions or name in module.classes:
            return module, name
        if name not in module.imports:
            return None
        source, name = module.imports[name]
        if source not in modules():
            return None
        module = modules()[source]
    return None


def calls_of(module_name: str, view: str, method: str, access: frozenset[str]) -> list[Called]:
    """What a view calls; `method` is that of a class, "" for a function."""
    module, reading = modules()[module_name], Reading(access)
    class_name, _dot, member = view.rpartition(".")
    if method or class_name:  # a view class, or a method of an object that is a view by itself
        _read_method(module, class_name or view, method or member, reading)
    else:
        _read(module, None, module.functions[view], reading)
    return reading.found


def _read_method(module: Module, class_name: str, method: str, reading: Reading) -> None:
    """Read a method where the class, or one of its bases, defines it."""
    for owner, node in _lineage(module, class_name):
        for member in node.body:
            if isinstance(member, ast.FunctionDef) and member.name == method:
                _read(owner, (module, class_name), member, reading)
                return


def _lineage(module: Module, class_name: str) -> Iterator[tuple[Module, ast.ClassDef]]:
    found = resolved(module, class_name)
    if found is None or found[1] not in found[0].classes:
        return
    owner, node = found[0], found[0].classes[found[1]]
    yield owner, node
    for base in node.bases:
        named = base.value if isinstance(base, ast.Subscript) else base
        if isinstance(named, ast.Name):
            yield from _lineage(owner, named.id)


def _read(module: Module, of: tuple[Module, str] | None, node: ast.FunctionDef, reading: Reading) -> None:
    place = (f"{module.name}:{of[1] if of else ''}", node.name)
    if place in reading.under_way:
        return
    reading.under_way.append(place)
    for statement in node.body:
        _visit(module, of, statement, reading)
    reading.under_way.pop()


def _visit(module: Module, of: tuple[Module, str] | None, node: ast.AST, reading: Reading) -> None:
    """Arguments first, then the call, as it would run."""
    for child in ast.iter_child_nodes(node):
        if not (isinstance(node, ast.Call) and child is node.func and isinstance(child, ast.Name)):
            _visit(module, of, child, reading)
    if isinstance(node, ast.Call):
        _call(module, of, node.func, reading)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        _named(module, node.id, reading)


def _call(module: Module, of: tuple[Module, str] | None, function: ast.expr, reading: Reading) -> None:
    if isinstance(function, ast.Attribute):
        if function.attr in reading.access:
            reading.found.append(Called(function.attr, is_access=True))
        elif isinstance(function.value, ast.Name) and function.value.id == "self" and of:
            _read_method(*of, function.attr, reading)
        elif isinstance(function.value, ast.Name):
            _called_on_module(module, function, reading)
    elif isinstance(function, ast.Name):
        _named(module, function.id, reading, calls=True)


def _called_on_module(module: Module, function: ast.Attribute, reading: Reading) -> None:
    """As in `editing.edit(…)`: a function of a module that was imported."""
    assert isinstance(function.value, ast.Name)
    source, name = module.imports.get(function.value.id, ("", ""))
    target = modules().get(f"{source}.{name}")
    if target and target.is_web and function.attr in target.functions:
        _read(target, None, target.functions[function.attr], reading)


def _named(module: Module, name: str, reading: Reading, *, calls: bool = False) -> None:
    """A function that is called, or handed on to be called."""
    found = resolved(module, name)
    real_name = found[1] if found else name
    if real_name in reading.access:
        if calls:
            reading.found.append(Called(real_name, is_access=True))
        return
    if found is None or found[1] not in found[0].functions:
        return
    owner, function = found
    if owner.is_web:
        _read(owner, None, owner.functions[function], reading)
    elif writes(owner.name, function):
        reading.found.append(Called(function, is_access=False))


@cache
def writes(module_name: str, function: str) -> bool:
    """Whether the function writes to the database, by itself or by what it calls."""
    return _writes(modules()[module_name], function, set())


def _writes(module: Module, function: str, seen: set[tuple[str, str]]) -> bool:
    if (module.name, function) in seen:
        return False
    seen.add((module.name, function))
    for node in ast.walk(module.functions[function]):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node.value.lstrip().startswith(STATEMENTS)
        ):
            return True
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Attribute) and node.func.attr in WRITING:
            return True
        if isinstance(node.func, ast.Name):
            found = resolved(module, node.func.id)
            if found and found[1] in found[0].functions and _writes(*found, seen):
                return True
    return False


def view_of(callback: Any) -> tuple[str, str, tuple[str, ...]]:
    """Module, name and methods of the function or class behind a route; no methods for a function."""
    cls = getattr(callback, "cls", None) or getattr(callback, "view_class", None)
    if cls:
        return cls.__module__, cls.__name__, tuple(name for name in METHODS if hasattr(cls, name))
    while hasattr(callback, "__wrapped__"):
        callback = callback.__wrapped__
    return callback.__module__, callback.__qualname__, ()
