"""How hard the property tests try: HYPOTHESIS_PROFILE=deep for the long run."""

import os

import pytest
from hypothesis import HealthCheck, settings

pytest.register_assert_rewrite("tests.engine.promises")

_CALM = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]

settings.register_profile("engine", max_examples=30, deadline=None, suppress_health_check=_CALM)
settings.register_profile("deep", max_examples=10_000, deadline=None, suppress_health_check=_CALM)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "engine"))
