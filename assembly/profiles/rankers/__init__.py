"""The built-in rankers are one file each, written by `manage.py train_ranker` and read once at start."""

from pathlib import Path

import yaml

from assembly.engine.linear_ranker import Ranker

RANKERS = {
    path.stem: Ranker.from_dict(yaml.safe_load(path.read_text(encoding="utf-8")))
    for path in sorted(Path(__file__).parent.glob("*.yaml"))
}
"""The rankers by name."""
