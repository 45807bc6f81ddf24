"""What is dear to build and the same for many modules is built once per run; each module gets a clone of its database.

The first worker that asks builds it, in a clone of the migrated template, and commits; others wait meanwhile. All get
what was returned as a copy of their own. It must therefore be possible to pickle it: model instances and texts of keys
are, signed-in browsers are not. The present moment is that of the run's first module.
"""

import fcntl
import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from config.keys.store import is_destroyed
from tests.postgres import FOLDER, TEMPLATE, cloned_database, connected_to, create_template

Built = TypeVar("Built")


@contextmanager
def built_once(name: str, build: Callable[[], Built]) -> Iterator[Built]:
    """Connects to a clone of the database in which the function ran. Yields a copy of what the function returned.

    The name stands for the function: lower-case letters, digits and underscores. What tests do to the clone is rolled
    back, as in `module_database`.
    """
    template = f"{TEMPLATE}_{name}"
    returned = Path(os.environ[FOLDER]) / f"{template}.pickle"
    with (Path(os.environ[FOLDER]) / f"{template}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not returned.exists():
            create_template(template)
            with connected_to(template):
                is_destroyed([bytes(32)])  # whoever asks for a key first creates the key store, which is cloned, too
                built = pickle.dumps(build())
            returned.write_bytes(built)
    with cloned_database(template, with_keys=True) as clone, connected_to(clone):
        yield pickle.loads(returned.read_bytes())  # noqa: S301 - it was written above
