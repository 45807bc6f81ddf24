from io import StringIO

import pytest
from django.core.management import call_command

from config.db.distribution.plan import prepare, remaining_plan
from config.db.distribution.rules import broken_rules


@pytest.fixture
def prepared(committed_database: str) -> None:
    prepare(remaining_plan().prepare)


def test_rules(committed_database: str) -> None:
    before = broken_rules()
    print(before)
    plan = remaining_plan()
    open("/tmp/citus/plan.sql", "w").write(";\n".join(plan.prepare + plan.distribute))
    prepare(plan.prepare)
    assert broken_rules() == []
    print(remaining_plan())
