"""Fixtures of comparisons, which simulations need as well."""

from tests.assembly.comparison.conftest import kept, ruth  # noqa: F401 - fixtures
