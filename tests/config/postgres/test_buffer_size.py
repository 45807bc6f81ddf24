"""How much memory the embedded PostgreSQL takes for pages."""

import os
from pathlib import Path

import pytest

from config.postgres.programs import memory_mb, shared_buffers_mb


@pytest.mark.parametrize(("memory", "buffers"), [(0, 128), (1_024, 128), (4_096, 256), (8_192, 512), (65_536, 512)])
def test_a_sixteenth_within_bounds(memory: int, buffers: int) -> None:
    assert shared_buffers_mb(memory) == buffers


def test_a_container_has_what_it_may_use(tmp_path: Path) -> None:
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    limit = tmp_path / "memory.max"
    assert memory_mb(limit) == machine, "no container"
    limit.write_text("max\n")
    assert memory_mb(limit) == machine
    limit.write_text(f"{64 << 20}\n")
    assert memory_mb(limit) == 64
