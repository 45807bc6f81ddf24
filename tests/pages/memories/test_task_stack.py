"""Tasks: trees of goals by stack, the current path, and the forms that add and finish goals."""

from typing import Any

import pytest

from agents.models import Agent
from memories.models import TaskFrame
from memories.services.task_stack import task_pop, task_push
from teams.models import User
from tests.memories.worked_agent import Kept, keep
from tests.pages.conftest import SignedIn, text_of

TASKS = "/agents/luna/tasks/"


@pytest.fixture
def kept(agent: Agent, owner: User) -> Kept:
    return keep(agent, owner.principal)


def test_the_own_stack_comes_first_and_the_path_is_marked(signed_in: SignedIn, teammate: User, kept: Kept) -> None:
    page = text_of(signed_in(teammate).get(TASKS))
    assert page.index("General stack") < page.index("Plan the spring tour")
    order = [page.index(text) for text in ("Prepare the spring tour", "Find halls", "Three halls", "Ask the caterer")]
    assert order == sorted(order)
    assert page.count('class="on-path"') == 3
    assert page.count('aria-current="step"') == 2
    assert page.partition('aria-current="step"')[2].index("Ask the caterer") < 100


def test_lists_are_closed_as_often_as_they_open(signed_in: SignedIn, owner: User, agent: Agent) -> None:
    by: dict[str, Any] = {"agent": agent, "session": None, "principal": owner.principal}
    for depth in range(100):
        task_push(**by, goal=f"Goal {depth}")
    for _ in range(40):
        task_pop(**by, result="")
    task_push(**by, goal="Another branch")
    page = text_of(signed_in(owner).get(TASKS)).partition('class="tree"')[2].partition("</section>")[0]
    assert page.count("<ul>") + 1 == page.count("</ul>") == 100
    assert page.count("<li") == page.count("</li>") == 101


def test_a_goal_is_added_and_finished(signed_in: SignedIn, editor: User, agent: Agent) -> None:
    browser = signed_in(editor)
    assert browser.get(f"{TASKS}pop/").status_code == 409
    assert browser.post(f"{TASKS}push/", {"goal": "  "}).status_code == 422
    browser.post(f"{TASKS}push/", {"goal": "Sell tickets"})
    browser.post(f"{TASKS}push/", {"goal": "Print posters"})
    assert "Print posters" in text_of(browser.get(f"{TASKS}pop/"))
    frame = TaskFrame.objects.get(goal="Print posters")
    response = browser.post(f"{TASKS}pop/", {"frame": frame.pk, "result": "300 are printed."}, follow=True)
    assert "300 are printed." in text_of(response)
    frame.refresh_from_db()
    assert (frame.status, frame.depth) == ("complete", 1)


def test_a_goal_that_is_current_no_more_is_not_finished(
    signed_in: SignedIn, editor: User, agent: Agent, kept: Kept
) -> None:
    browser = signed_in(editor)
    task_push(agent=agent, session=None, goal="Something new", principal=editor.principal)
    response = browser.post(f"{TASKS}pop/", {"frame": kept.task.pk, "result": "My words."})
    page = text_of(response)
    assert response.status_code == 422
    assert "The current task has changed meanwhile. Nothing was saved; review the task again." in page
    assert "My words." in page
    assert "Something new" in page
    assert TaskFrame.objects.get(goal="Something new").status == "active"


def test_the_stack_of_a_session(signed_in: SignedIn, editor: User, kept: Kept) -> None:
    browser = signed_in(editor)
    address = f"{TASKS}?session={kept.session.pk}"
    page = text_of(browser.get(address))
    assert "Plan the tour" in page
    assert "Prepare the spring tour" not in page
    response = browser.post(f"{TASKS}push/?session={kept.session.pk}", {"goal": "Pack"})
    assert response["Location"] == address
    assert TaskFrame.objects.get(goal="Pack").session == kept.session
    assert browser.get(f"{TASKS}?session=nonsense").status_code == 404


def test_many_roots_come_page_by_page(
    signed_in: SignedIn, owner: User, agent: Agent, django_assert_num_queries: Any
) -> None:
    by: dict[str, Any] = {"agent": agent, "session": None, "principal": owner.principal}
    for number in range(30):
        task_push(**by, goal=f"Goal {number:02}")
        task_pop(**by, result="Done.")
    browser = signed_in(owner)
    with django_assert_num_queries(10):
        page = text_of(browser.get(TASKS))
    assert (page.count("Goal "), "Show all of the general stack" in page) == (10, True)
    page = text_of(browser.get(f"{TASKS}?stack=own"))
    assert (page.count("Goal "), "Show older" in page) == (25, True)
