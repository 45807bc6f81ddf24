"""Nothing is read ahead while others use the processors, or have just asked for a context."""

from typing import Any

import pytest

from assembly.preassembly import idle_time
from assembly.preassembly.idle_time import IdleTime, ProcessorUse


class Machine:
    """The processors' seconds as Linux counts them, in hundredths; and what this process used of them."""

    def __init__(self) -> None:
        self.used = self.idle = self.waiting = 0.0
        self.own = self.seconds = 0.0

    def stat(self) -> str:
        columns = [self.used * 100, 0, 0, self.idle * 100, self.waiting * 100, 0, 0, 0, 50, 50]
        return "cpu  " + " ".join(str(int(one)) for one in columns) + "\ncpu0 1 2 3\n"

    def use(self) -> ProcessorUse:
        return ProcessorUse(self.stat, lambda: self.seconds, lambda: self.own)


def test_the_share_that_others_use_is_measured_over_the_last_moment() -> None:
    machine = Machine()
    use = machine.use()
    machine.seconds, machine.used, machine.idle, machine.waiting = 1.0, 1.5, 0.3, 0.2
    assert use.percent() == 75
    machine.seconds, machine.used, machine.idle, machine.own = 2.0, 2.5, 1.3, 1.0
    assert use.percent() == 0, "what the worker itself does keeps it from nothing"
    machine.used += 5
    machine.seconds += 0.1
    assert use.percent() == 0, "too soon to tell"


@pytest.mark.parametrize("told", ["", "intr 1 2\n"])
def test_where_the_system_does_not_tell_the_load_decides(told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (3.0, 0.0, 0.0))
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    seconds = iter([0.0, 1.0, 1.0])
    assert ProcessorUse(lambda: told, lambda: next(seconds)).percent() == 150


def test_both_guards_must_agree(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    percent, since = [10.0], [5.0]

    class Use(ProcessorUse):
        def percent(self) -> float:
            return percent[0]

    monkeypatch.setattr(idle_time, "seconds_since_last_context", lambda: since[0])
    idle = IdleTime(Use())
    settings.PREASSEMBLY_LOAD_PERCENT, settings.PREASSEMBLY_IDLE_MS = 50, 250
    assert idle.is_now()
    percent[0] = 51
    assert not idle.is_now()
    percent[0], since[0] = 10, 0.2
    assert not idle.is_now()
    settings.PREASSEMBLY_IDLE_MS = 100
    assert idle.is_now()
