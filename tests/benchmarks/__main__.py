"""`make bench` runs every benchmark, `make bench ONLY=name` one. Each prints a JSON line per figure.

Every run has a server and a database of its own in a temporary folder, and leaves nothing behind.
"""

import os
import shutil
import sys
import tempfile
from importlib import import_module
from pathlib import Path

from tests.benchmarks.figures import DataMissing

BENCHMARKS = [
    "assembly_vs_floor", "turn", "http_assembly", "memory_assemble", "cache", "cache_mix", "preassembly", "deadline",
    "evidence_recall", "document_recall", "passages", "levels", "learned_weights", "search", "write_paths", "growth",
    "record", "million", "pages", "worst_cost", "greedy", "connections", "conflicts", "conflict_cost",
    "tiers", "maintenance", "masking", "encryption", "partitions",
]  # fmt: skip


def main(only: str) -> None:
    """Run the benchmark of that name, or all of them."""
    chosen = BENCHMARKS if only == "all" else [only]
    if unknown := set(chosen) - set(BENCHMARKS):
        sys.exit(f"There is no benchmark {', '.join(unknown)}. Known are: {', '.join(BENCHMARKS)}.")
    folder = tempfile.mkdtemp(prefix="dossier-bench-")
    os.environ.pop("DATABASE_URL", None)
    os.environ |= {"DOSSIER_DATA_DIR": folder, "DJANGO_SETTINGS_MODULE": "config.settings"}
    missing = []
    try:
        for name in chosen:
            try:
                import_module(f"tests.benchmarks.{name}").run()
            except DataMissing as error:
                print(error, file=sys.stderr)
                missing.append(name)
    finally:
        from config.postgres.embedded import EmbeddedPostgres

        EmbeddedPostgres(Path(folder)).detach(wait=True)
        shutil.rmtree(folder, ignore_errors=True)
    if missing:
        sys.exit(f"Nothing was measured by: {', '.join(missing)}.")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "all")
