"""A process that has loaded everything has its garbage collected seldom."""

import subprocess
import sys

TOLD = """
import gc
from config.server.memory_settings import THRESHOLDS, configure_garbage_collector
configure_garbage_collector()
assert gc.get_freeze_count() > 1000
assert gc.get_threshold() == THRESHOLDS
assert gc.isenabled()
"""


def test_what_is_there_is_left_alone_and_the_collector_stays_on() -> None:
    subprocess.run([sys.executable, "-c", TOLD], check=True)  # not this process: it is for good
