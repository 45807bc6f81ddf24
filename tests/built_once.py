"""What is dear to build is built once, by the run or by a module, and what tests do to it is rolled back.

Of what is the same for many modules, each gets a clone. The first worker that asks builds it, in a clone of the
migrated template, and commits; others wait meanwhile. All get what was returned as a copy of their own. It must
therefore be possible to pickle it: model instances and keys are, signed-in browsers are not. It is as old as the run.
"""

import copy
import fcntl
import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from assembly.pipeline import shared_memos
from assembly.pipeline.answer_cache import assembly_cache
from config.keys.store import is_destroyed
from memories.search import owner_sample
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


def copy_of(built: Built) -> Built:
    """A copy for one test of what was built for its module: what a test sets on a model instance, no other one sees.

    What this process keeps of the same owners as they were in the test before is forgotten; `tests.conftest` forgets
    the rest before each test.
    """
    assembly_cache._entries.clear()
    shared_memos.forget_memos()
    owner_sample._cache.clear()
    return copy.deepcopy(built)
