"""Cutting a text to fit: at the end of something that can stand by itself, where that does not cost too much."""

from assembly.engine.boundaries import Boundaries
from assembly.engine.profile import CutAt
from assembly.engine.rendering import Rendered
from assembly.engine.tokens import Ledger
from assembly.engine.truncation import longest_cut

_LOOK_AHEAD = 1_000  # characters after the plain cut that tell whether something ends with it
_BOUNDARIES = ("heading", "paragraph", "sentence")


def cut_to_fit(rendered: Rendered, ledger: Ledger, limit: int, at: CutAt) -> tuple[int, Ledger] | None:
    """The longest prefix of the item's body that ends at such a boundary and fits with its marker: its length, and the
    ledger that ends in it. None when not one character fits.

    Where that would keep less than half of the characters of the plain cut, the next finer boundary is tried: headings,
    paragraphs, sentences, lines, and in the end the plain cut. Every length is proved by a real count.
    """
    body = rendered.body
    plain = longest_cut(body, ledger, limit, ending=rendered.ending, may_end=rendered.may_end)
    if plain is None or at == "anywhere":
        return plain
    last, _ = plain
    first = (last + 1) // 2
    boundaries = Boundaries.of(body[: last + _LOOK_AHEAD])
    settled = ledger.append(body[:first])
    ways = (boundaries.before_headings, boundaries.after_paragraphs, boundaries.after_sentences, boundaries.after_lines)
    for ends in ways[_BOUNDARIES.index(at) :]:
        for end in ends(first, last):
            grown = settled.append(body[first:end] + rendered.ending(end))
            if grown.tokens <= limit and rendered.may_end(end):
                return end, grown
    return plain
