"""The settings of the workers of tests: ours, and an app with jobs that do harm."""

from config.settings import *  # noqa: F403 - Django's way to build settings on others
from config.settings import INSTALLED_APPS as OURS

INSTALLED_APPS = [*OURS, "tests.faults.deadly"]
