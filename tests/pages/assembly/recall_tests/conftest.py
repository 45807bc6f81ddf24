"""The tests of the services, for pages."""

from tests.assembly.recall_tests.conftest import knowledge, memory, refund_test  # noqa: F401 - fixtures
