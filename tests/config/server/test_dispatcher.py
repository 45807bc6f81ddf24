"""The reception: who gets which connection, when the door opens, and what happens when nobody is ready."""

import itertools
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from config.server.dispatcher import READY, Dispatcher


class WebProcess:
    """The far end of a line, as a web process holds it."""

    def __init__(self, reception: Dispatcher) -> None:
        ours, self.line = socket.socketpair()
        self.line.settimeout(10)
        reception.admit(ours)

    def say_ready(self) -> None:
        self.line.send(READY)

    def take(self) -> socket.socket:
        """The next connection that was handed over."""
        _, [descriptor], _, _ = socket.recv_fds(self.line, 1, 1)
        return socket.socket(fileno=descriptor)


class Running:
    """A reception in a thread."""

    def __init__(self, *, processes: int = 1, patience_seconds: float = 60) -> None:
        door = socket.socket()
        door.bind(("127.0.0.1", 0))
        self.address = door.getsockname()
        self.is_open = threading.Event()
        opened = self.is_open.set
        self.reception = Dispatcher(door, opened=opened, processes=processes, patience_seconds=patience_seconds)
        self.thread = threading.Thread(target=self.reception.run)
        self.thread.start()

    def connect(self) -> socket.socket:
        return socket.create_connection(self.address, timeout=10)

    def close(self) -> None:
        self.reception.close()
        self.thread.join(timeout=10)
        assert not self.thread.is_alive()


@pytest.fixture
def running() -> Iterator[Running]:
    running = Running()
    yield running
    running.close()


@contextmanager
def ready(running: Running, number: int) -> Iterator[list[WebProcess]]:
    processes = [WebProcess(running.reception) for _ in range(number)]
    for process in processes:
        process.say_ready()
    assert running.is_open.wait(10)
    yield processes
    for process in processes:
        process.line.close()


def greeted(process: WebProcess) -> bytes:
    """What the client whose connection it takes has sent."""
    with process.take() as connection:
        connection.settimeout(10)
        return connection.recv(10)


def test_nobody_is_let_in_before_a_process_is_ready(running: Running) -> None:
    process = WebProcess(running.reception)
    with pytest.raises(ConnectionRefusedError):
        running.connect()
    process.say_ready()
    assert running.is_open.wait(10)
    with running.connect() as client:
        client.send(b"hello")
        assert greeted(process) == b"hello"
    process.line.close()


def test_those_who_are_ready_first_wait_for_the_others() -> None:
    with closing(Running(processes=2)) as running:
        first, second = WebProcess(running.reception), WebProcess(running.reception)
        first.say_ready()
        assert not running.is_open.wait(0.2)
        with pytest.raises(ConnectionRefusedError):
            running.connect()
        second.say_ready()
        assert running.is_open.wait(10)
        clients = [running.connect() for _ in range(4)]
        for process in (first, second, first, second):
            process.take().close()
        for closed in (*clients, first.line, second.line):
            closed.close()


def test_a_process_that_does_not_start_is_not_waited_for_long() -> None:
    with closing(Running(processes=2, patience_seconds=0.2)) as running:
        process = WebProcess(running.reception)
        process.say_ready()
        assert running.is_open.wait(10)
        with running.connect() as client:
            client.send(b"hello")
            assert greeted(process) == b"hello"
        process.line.close()


def test_others_are_waited_for_anew_after_the_first_one_has_died() -> None:
    with closing(Running(processes=3, patience_seconds=0.4)) as running:
        first = WebProcess(running.reception)
        first.say_ready()
        first.line.close()
        assert not running.is_open.wait(0.6)
        another = WebProcess(running.reception)
        another.say_ready()
        assert not running.is_open.wait(0.2)
        assert running.is_open.wait(10)
        another.line.close()


def test_each_process_gets_its_share(running: Running) -> None:
    with ready(running, 2) as processes:
        # One of the two may have been ready for the first connections before the other one was.
        clients = [running.connect() for _ in range(12)]
        taken = [[process.take() for _ in range(4)] for process in processes]
        assert [len(share) for share in taken] == [4, 4]
        for connection in itertools.chain(clients, *taken):
            connection.close()


def test_a_process_that_is_gone_is_passed_over(running: Running) -> None:
    with ready(running, 2) as (first, second):
        first.line.close()
        for number in range(4):
            with running.connect() as client:
                client.send(b"%d" % number)
                assert greeted(second) == b"%d" % number


def test_who_comes_while_nobody_is_there_waits_for_the_next(running: Running) -> None:
    with ready(running, 1):
        pass
    with running.connect() as client:
        client.send(b"early")
        with ready(running, 1) as [process]:
            assert greeted(process) == b"early"


def test_a_process_that_takes_none_keeps_nobody_waiting(running: Running) -> None:
    with ready(running, 1) as [process]:
        clients = [running.connect() for _ in range(400)]  # more than its line holds
        with process.take(), running.connect():
            pass
        for client in clients:
            client.close()


@pytest.mark.finding("2c")
def test_who_finds_all_lines_full_waits_and_is_not_turned_away(running: Running) -> None:
    with ready(running, 2) as processes:
        clients = [running.connect() for _ in range(900)]  # more than both lines hold
        for number, client in enumerate(clients):
            client.send(b"%d." % number)
        greetings = {greeted(processes[number % 2]) for number in range(len(clients))}
        assert greetings == {b"%d." % number for number in range(len(clients))}
        with running.connect() as late:
            late.send(b"late")
            assert greeted(processes[len(clients) % 2]) == b"late"
        for client in clients:
            client.close()


def test_closed_it_listens_no_longer_however_often_it_is_closed(running: Running) -> None:
    with ready(running, 1):
        for _ in range(3):
            running.reception.close()
        running.thread.join(timeout=10)
        with pytest.raises(ConnectionRefusedError):
            running.connect()
        running.reception.close()
