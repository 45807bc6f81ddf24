"""The CPU budget of a request: it stops loops, lets those go on that wait, and belongs to one thread."""

import threading
from time import sleep, thread_time

import pytest
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.test import Client, override_settings
from django.urls import path

from config import urls
from config.http.cpu_budget import (
    TooCostly,
    TookTooLong,
    check_cpu,
    cpu_budget,
    cpu_budget_here,
    unlimited_cpu,
    wall_limit,
)

UNCOLLECTED = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}


def compute_for(seconds: float) -> None:
    until = thread_time() + seconds
    while thread_time() < until:
        check_cpu()


@login_not_required
def loop(request: HttpRequest) -> HttpResponse:
    compute_for(20)
    return HttpResponse()


urlpatterns = [path("loop/", loop), path("api/v1/loop", loop), *urls.urlpatterns]


def test_a_loop_is_stopped_when_its_cpu_time_is_spent() -> None:
    begun = thread_time()
    with pytest.raises(TooCostly, match="nothing was changed"), cpu_budget(0.05):
        compute_for(20)
    assert thread_time() - begun < 10


def test_what_would_not_end_in_time_is_not_begun() -> None:
    with cpu_budget(5):
        check_cpu(4)
        with pytest.raises(TooCostly):
            check_cpu(6)
        check_cpu()


def test_waiting_costs_nothing() -> None:
    with cpu_budget(0.05):
        sleep(0.1)
        check_cpu()


def test_without_a_budget_nothing_is_stopped() -> None:
    compute_for(0.05)


def test_an_inner_budget_cannot_be_larger_than_what_is_left() -> None:
    with cpu_budget(0.05), pytest.raises(TooCostly), cpu_budget(60):
        compute_for(20)


def test_work_without_a_limit_moves_on_to_another_process_all_the_same() -> None:
    with cpu_budget(0.01), unlimited_cpu():
        compute_for(0.03)
    with cpu_budget_here(0.01), pytest.raises(TooCostly), unlimited_cpu(), cpu_budget(60):
        compute_for(20)


def test_a_budget_ends_with_its_block() -> None:
    with pytest.raises(TooCostly), cpu_budget(0):
        check_cpu()
    check_cpu()


def test_the_time_of_a_block_ends_for_those_who_wait_as_well() -> None:
    with wall_limit(0.02):
        sleep(0.05)
        with pytest.raises(TookTooLong):
            check_cpu()


def test_a_limit_of_time_leaves_the_cpu_budget_in_force() -> None:
    with cpu_budget(0.05), pytest.raises(TooCostly), wall_limit(60):
        compute_for(20)


def test_another_thread_has_no_part_in_it() -> None:
    failed: list[Exception] = []

    def work() -> None:
        try:
            check_cpu()
        except TooCostly as error:
            failed.append(error)

    with cpu_budget(0):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert not failed


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/loop/", "/api/v1/loop"])
@override_settings(ROOT_URLCONF=__name__, REQUEST_CPU_MS=200, STORAGES=UNCOLLECTED)
def test_a_request_that_computes_for_too_long_gets_a_sentence(address: str) -> None:
    response = Client().get(address, headers={"Accept": "application/json"})
    assert response.status_code == 422
    assert "shorter texts" in response.content.decode()
