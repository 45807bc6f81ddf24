"""The migrations of import plans lose no row, there and back."""

import pytest
from django.core.management import call_command

from memories.models import ImportPlan


@pytest.mark.deep
@pytest.mark.usefixtures("committed_database")
def test_import_plans_lose_their_bytes_alone_and_get_them_back_as_none() -> None:
    plan = ImportPlan.objects.create(requested_by="person:1", file_name="notes.zip", archive=b"zip")
    call_command("migrate", "memories", "0013", verbosity=0)
    former = ImportPlan.objects.extra(select={"bytes": "unpacked_bytes"})
    assert [(row.id, row.bytes) for row in former] == [(plan.id, 0)]
    call_command("migrate", verbosity=0)
    assert ImportPlan.objects.get().archive == b"zip"
