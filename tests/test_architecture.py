"""The house: imports point one way, each app has only its rooms at the top, and a module is one idea of some size."""

import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent
APPS = ("config", "teams", "agents", "memories", "assembly", "privacy")
TOP = {
    "assembly": {
        "__init__", "access", "api_urls", "apps", "urls", "models", "migrations", "management", "templatetags", "demo",
        "engine", "sources", "profiles", "rules", "records", "pipeline", "contexts", "comparison", "simulation",
        "why_not", "monitoring", "notifications", "home", "contract", "conflicts", "learned_weights",
        "masking", "preassembly", "recall_tests",
    },
    "memories": {
        "__init__", "access", "apps", "urls", "models", "migrations", "management", "templatetags",
        "services", "forms", "views", "api", "search", "embeddings", "lifecycle", "archive", "imports", "jobs",
    },
    "privacy": {
        "__init__", "access", "api_urls", "apps", "urls", "models", "migrations", "subjects", "erasure",
        "corrections", "management", "templatetags",
    },
}  # fmt: skip
"""Everything that may stand at the top of an app."""
LAYERS = {"views", "api", "forms", "models", "services", "sources", "templatetags"}
"""Folders with a module for each noun: `memories/views/threads.py` shows what `memories/api/threads.py` serves."""
STANDARD = {
    "views", "api", "forms", "serializers", "presentation", "services", "models", "urls", "api_urls", "access",
    "base", "apps",
}  # fmt: skip
"""Module names that Django and DRF projects repeat in every feature."""
MOST_REPEATED = 12
SMALL, MOST_SMALL, LARGEST, LEAST_MEDIAN = 40, 0.05, 360, 100
REGISTRY_ENTRIES = ("assembly/sources/", "memories/embeddings/")
"""Where a module may be as small as the one thing that it registers."""


def test_import_contracts_hold() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    finished = subprocess.run([linter, "--no-cache"], check=False, capture_output=True, text=True, cwd=ROOT)
    assert finished.returncode == 0, finished.stdout


def test_an_app_has_its_rooms_at_the_top_and_nothing_else() -> None:
    for app, allowed in TOP.items():
        assert {path.stem for path in (ROOT / app).iterdir() if path.name != "__pycache__"} == allowed


def test_a_module_name_stands_for_one_idea() -> None:
    folders = defaultdict(list)
    for module in _modules():
        if module.stem not in STANDARD and module.parent.name not in LAYERS:
            folders[module.stem].append(module.parent.as_posix())
    repeated = {name: places for name, places in folders.items() if len(places) > 1}
    assert len(repeated) <= MOST_REPEATED, repeated


def test_a_module_is_neither_a_fragment_nor_a_heap() -> None:
    lines = {module.as_posix(): len((ROOT / module).read_text().splitlines()) for module in _modules()}
    assert statistics.median(lines.values()) >= LEAST_MEDIAN
    assert not {name for name, count in lines.items() if count > LARGEST}
    small = {
        name
        for name, count in lines.items()
        if count < SMALL and not name.startswith(REGISTRY_ENTRIES) and Path(name).stem not in STANDARD
    }
    assert len(small) < MOST_SMALL * len(lines), small


def _modules() -> list[Path]:
    """Return the modules of all apps, relative to the repository, without packages, migrations, commands and data."""
    return [
        path.relative_to(ROOT)
        for app in APPS
        for path in (ROOT / app).rglob("*.py")
        if path.name != "__init__.py"
        and not {"migrations", "commands", "demo"} & set(path.relative_to(ROOT).parts[:-1])
    ]
