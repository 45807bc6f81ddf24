"""The drawing of a graph: the same every time, everything inside, nothing on top of each other."""

import itertools
import math
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memories.models import Entity, Relation
from memories.views.graph_svg.drawing import SPACING, draw_graph, entity_kinds
from memories.views.graph_svg.labels import LabelRequest, place_labels
from memories.views.graph_svg.layout import lay_out
from memories.views.graph_svg.shapes import SHAPES

BOX: dict[str, float] = {"width": 1000.0, "height": 800.0, "spacing": 38.0}


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]]]:
    count = draw(st.integers(0, 60))
    node = st.integers(0, max(0, count - 1))
    return count, draw(st.lists(st.tuples(node, node), max_size=120)) if count else []


@settings(deadline=None, max_examples=40)
@given(graphs())
def test_every_node_is_inside_and_apart(graph: tuple[int, list[tuple[int, int]]]) -> None:
    count, edges = graph
    places = lay_out(count, edges, **BOX)
    assert len(places) == count
    assert all(0 <= x <= BOX["width"] and 0 <= y <= BOX["height"] for x, y in places)
    assert all(math.dist(one, other) > BOX["spacing"] * 0.6 for one, other in itertools.combinations(places, 2))
    assert lay_out(count, edges, **BOX) == places


def test_related_ones_are_nearer() -> None:
    chain = [(number, number + 1) for number in range(19)]
    places = lay_out(20, chain, **BOX)
    near = max(math.dist(places[one], places[other]) for one, other in chain)
    assert near < math.dist(places[0], places[19]) / 3


def test_the_hub_of_a_star_is_in_its_middle() -> None:
    places = lay_out(80, [(0, number) for number in range(1, 80)], **BOX)
    x, y = places[0]
    assert abs(x - 500) < 150
    assert abs(y - 400) < 150


def test_no_label_lies_on_another_or_on_a_node() -> None:
    label_requests = [
        LabelRequest(f"Name {number}", 40.0 * (number % 15) + 40, 30.0 * (number // 15) + 40, 8, 13)
        for number in range(150)
    ]
    found = place_labels(label_requests, width=1000, height=600)
    assert found[0] is not None
    assert any(label is None for label in found)
    boxes = []
    for label in filter(None, found):
        wide = len(label.text) * 0.56 * label.size
        left = label.x - {"start": 0, "middle": wide / 2, "end": wide}[label.anchor]
        boxes.append((left, label.y - label.size * 0.9, left + wide, label.y + label.size * 0.25))
    for one, other in itertools.combinations(boxes, 2):
        assert one[2] <= other[0] + 1 or other[2] <= one[0] + 1 or one[3] <= other[1] + 1 or other[3] <= one[1] + 1


def _graph(count: int, ends: list[tuple[int, int, bool]]) -> tuple[list[Entity], list[Relation]]:
    entities = [
        Entity(id=UUID(int=number + 1), name=f"Entity {number}", type="ab"[number % 2], salience=number / count)
        for number in range(count)
    ]
    relations: list[Any] = [
        Relation(source=entities[one], target=entities[other], type="knows", weight=0.5, directed=directed)
        for one, other, directed in ends
    ]
    return entities, relations


def test_the_centre_comes_first_then_the_salient() -> None:
    entities, relations = _graph(5, [(0, 1, True)])
    drawing = draw_graph(entities, relations, entity_kinds({"a": 3, "b": 2}), entities[2].id)
    assert [node.entity.name for node in drawing.nodes] == [f"Entity {number}" for number in (2, 4, 3, 1, 0)]
    assert [node.is_centre for node in drawing.nodes] == [True, False, False, False, False]
    assert [node.relations for node in drawing.nodes] == [0, 0, 0, 1, 1]


def test_lines_between_the_same_two_lie_apart_and_loops_are_drawn() -> None:
    entities, relations = _graph(2, [(0, 1, True), (1, 0, True), (0, 1, False), (0, 0, True)])
    lines = draw_graph(entities, relations, entity_kinds({"a": 1, "b": 1}), None).lines
    assert len({line.path for line in lines}) == 4
    assert len({(line.label_x, line.label_y) for line in lines}) == 4
    assert "C" in lines[3].path


def test_relations_to_what_is_not_drawn_are_left_out() -> None:
    entities, relations = _graph(3, [(0, 1, True), (1, 2, True)])
    assert len(draw_graph(entities[:2], relations, entity_kinds({"a": 1, "b": 1}), None).lines) == 1


def test_types_differ_by_shape_until_shapes_run_out() -> None:
    kinds = entity_kinds({f"type {number:02}": 20 - number for number in range(12)})
    shapes = [kind.shape for kind in kinds.values()]
    assert shapes == [*SHAPES, *[SHAPES[-1]] * (12 - len(SHAPES))]
    assert entity_kinds({"b": 1, "a": 1}).keys() == entity_kinds({"a": 1, "b": 1}).keys()


@pytest.mark.parametrize("count", [0, 1, 2, 200])
def test_graphs_of_any_size(count: int) -> None:
    entities, relations = _graph(count, [(number, number // 3, True) for number in range(1, count)])
    drawing = draw_graph(entities, relations, entity_kinds({"a": 1, "b": 1}), None)
    assert len(drawing.nodes) == count
    assert all(
        math.dist((one.x, one.y), (other.x, other.y)) > SPACING * 0.6
        for one, other in itertools.combinations(drawing.nodes, 2)
    )
