"""Fixtures of comparisons, which what-ifs need as well."""

from tests.assembly.comparison.conftest import kept  # noqa: F401 - a fixture
