"""This module computes the drawing of a graph of entities: all values in its SVG, without reading the database."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from memories.models import Entity, Relation
from memories.views.graph_svg.labels import LabelRequest, PlacedLabel, place_labels
from memories.views.graph_svg.layout import lay_out
from memories.views.graph_svg.shapes import CURVE, SHAPES, Point, Shape, line_path, loop_path, node_path

WIDTH = 1100.0
MIN_HEIGHT, HEIGHT_PER_ROOT = 320.0, 64.0  # 200 entities are about 900 high
MARGIN = 40.0
SPACING = 38.0  # between the centres of two nodes, so that a finger can hit either
RADIUS, RADIUS_BY_SALIENCE = 7.0, 6.0
FONT, FONT_BY_SALIENCE = 12.0, 4.0
TONES = 7
MAX_NAMED_LINES = 24  # up to this number, relations are drawn with their types


@dataclass(frozen=True, slots=True)
class EntityKind:
    """A type of entities with its shape, colour (`tone`) and number; types beyond the shapes share the last one."""

    type: str
    count: int
    shape: Shape
    tone: str
    path: str


@dataclass(frozen=True, slots=True)
class GraphNode:
    """An entity as it is drawn: position, shape, label and number of relations."""

    entity: Entity
    kind: EntityKind
    x: float
    y: float
    radius: float
    path: str
    relations: int
    label: PlacedLabel | None
    is_centre: bool


@dataclass(frozen=True, slots=True)
class GraphLine:
    """A relation as it is drawn: path, width and position of its label."""

    relation: Relation
    source: Entity
    target: Entity
    path: str
    label_x: float
    label_y: float
    width: float


@dataclass(frozen=True, slots=True)
class GraphDrawing:
    """The whole drawing of a graph: its size, nodes and lines, in units of the SVG."""

    width: float
    height: float
    nodes: list[GraphNode]
    lines: list[GraphLine]
    has_line_names: bool


def entity_kinds(counts: Mapping[str, int]) -> dict[str, EntityKind]:
    """Return the types of entities, the most frequent first, each with a shape that is the same in any part of the
    graph.
    """
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    found = {}
    for number, (type_, count) in enumerate(ordered):
        shape = SHAPES[min(number, len(SHAPES) - 1)]
        tone = f"l{number % TONES + 1}"
        found[type_] = EntityKind(type_, count, shape, tone, node_path(shape, (10, 10), 7))
    return found


def draw_graph(
    entities: Sequence[Entity], relations: Sequence[Relation], kinds: Mapping[str, EntityKind], centre: UUID | None
) -> GraphDrawing:
    """Return the drawing of the entities and the relations among them; the centre is placed first, then by salience."""
    ordered = sorted(entities, key=lambda entity: (entity.id != centre, -entity.salience, entity.name, entity.id))
    numbers = {entity.id: number for number, entity in enumerate(ordered)}
    among = [relation for relation in relations if relation.source_id in numbers and relation.target_id in numbers]
    edges = [(numbers[relation.source_id], numbers[relation.target_id]) for relation in among]
    height = max(MIN_HEIGHT, round(HEIGHT_PER_ROOT * math.sqrt(len(ordered))))
    box = {"width": WIDTH - 2 * MARGIN, "height": height - 2 * MARGIN}
    places = [(x + MARGIN, y + MARGIN) for x, y in lay_out(len(ordered), edges, **box, spacing=SPACING)]
    label_requests = [_label_request(entity, place) for entity, place in zip(ordered, places, strict=True)]
    names = place_labels(label_requests, width=WIDTH, height=height)
    degrees = Counter(number for edge in edges for number in set(edge))
    nodes = [
        _node(entity, kinds[entity.type], label_request, degrees[number], name, is_centre=entity.id == centre)
        for number, (entity, label_request, name) in enumerate(zip(ordered, label_requests, names, strict=True))
    ]
    return GraphDrawing(WIDTH, height, nodes, _lines(among, edges, nodes), len(among) <= MAX_NAMED_LINES)


def _label_request(entity: Entity, place: Point) -> LabelRequest:
    radius = round(RADIUS + RADIUS_BY_SALIENCE * entity.salience, 1)
    return LabelRequest(entity.name, *place, radius, round(FONT + FONT_BY_SALIENCE * entity.salience, 1))


def _node(
    entity: Entity,
    kind: EntityKind,
    label_request: LabelRequest,
    relations: int,
    label: PlacedLabel | None,
    *,
    is_centre: bool,
) -> GraphNode:
    path = node_path(kind.shape, (label_request.x, label_request.y), label_request.radius)
    return GraphNode(
        entity, kind, label_request.x, label_request.y, label_request.radius, path, relations, label, is_centre
    )


def _lines(
    relations: Sequence[Relation], edges: Sequence[tuple[int, int]], nodes: Sequence[GraphNode]
) -> list[GraphLine]:
    """Return the relations as lines; several lines between the same two nodes lie next to each other."""
    many = Counter(frozenset(edge) for edge in edges)
    seen: Counter[frozenset[int]] = Counter()
    lines = []
    for relation, (one, other) in zip(relations, edges, strict=True):
        pair = frozenset((one, other))
        side = (seen[pair] - (many[pair] - 1) / 2) * (1 if one < other else -1)
        seen[pair] += 1
        lines.append(_line(relation, nodes[one], nodes[other], side * CURVE))
    return lines


def _line(relation: Relation, source: GraphNode, target: GraphNode, bend: float) -> GraphLine:
    if source is target:
        path, (x, y) = loop_path((source.x, source.y), source.radius)
    else:
        ends = (source.x, source.y), (target.x, target.y)
        path, (x, y) = line_path(*ends, source.radius, target.radius, bend)
    width = round(0.8 + 1.4 * relation.weight, 1)
    return GraphLine(relation, source.entity, target.entity, path, round(x, 1), round(y, 1), width)
