"""Writes the blocks of a compared text as HTML, with what was removed and added marked for eyes and ears."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import groupby

from django.utils.translation import gettext as _

from teams.differences.blocks import Block
from teams.differences.pieces import Piece
from teams.differences.words import Kind

Marked = tuple[Kind, Piece]


class Writer:
    """Collects HTML. Changes that touch count as one; its first element has an id, change-1 and so on."""

    def __init__(self) -> None:
        self.html: list[str] = []
        self.changes = 0
        self._in_change = False

    def open(self, block: Block, kind: Kind = "equal") -> None:
        """The start of a block that holds others."""
        if block.is_hidden:
            return
        start = f' start="{escape(block.detail)}"' if block.kind == "ordered_list" and block.detail != "1" else ""
        mark = f' class="{kind}"' if block.kind == "list_item" and kind != "equal" else ""
        self.html.append(f"<{block.tag}{start}{mark}>")

    def close(self, block: Block) -> None:
        if not block.is_hidden:
            self.html.append(f"</{block.tag}>\n")

    def whole(self, block: Block, kind: Kind) -> None:
        """A block of which all stayed, went, or came."""
        if block.children:
            self.open(block, kind)
            for child in block.children:
                self.whole(child, kind)
            self.close(block)
        else:
            self.leaf(block, [(kind, piece) for piece in block.pieces] or [(kind, Piece(""))])

    def leaf(self, block: Block, marked: Sequence[Marked]) -> None:
        """A block of words; a rule, or a cell without words, is marked around where it has none."""
        if block.kind == "hr":
            self.html.extend(self._wrapped(marked[0][0], ["<hr>\n"]))
            return
        self.open(block)
        self.html.append("<code>" if block.kind == "code" else "")
        self.words(marked)
        self.html.append("</code>" if block.kind == "code" else "")
        self.close(block)

    def words(self, marked: Iterable[Marked]) -> None:
        for kind, group in groupby(marked, key=lambda one: one[0]):
            self.html.extend(self._wrapped(kind, _inline([piece for _, piece in group], kind)))

    def note(self, old: str, new: str) -> None:
        """Says that a block became one of another kind."""
        self.html.append('<div class="kinds">')
        self.words([("removed", Piece(old)), ("added", Piece(new))])
        self.html.append("</div>\n")

    def _wrapped(self, kind: Kind, html: Iterable[str]) -> Iterator[str]:
        inside = "".join(html)
        if kind == "equal":
            self._in_change = self._in_change and not inside.strip()
            yield inside
            return
        element, word = ("del", _("removed:")) if kind == "removed" else ("ins", _("added:"))
        yield f'<{element}{self._anchor()}><span class="visually-hidden">[{escape(word)} </span>{inside}'
        yield f'<span class="visually-hidden">]</span></{element}>'

    def _anchor(self) -> str:
        if self._in_change:
            return ""
        self._in_change = True
        self.changes += 1
        return f' id="change-{self.changes}" tabindex="-1"'


def _inline(pieces: Sequence[Piece], kind: Kind) -> Iterator[str]:
    """The pieces in their elements; neighbours in the same ones share them."""
    visible = [piece for piece in pieces if kind != "equal" or not piece.is_address]
    for (elements, link), group in groupby(visible, key=lambda piece: (piece.elements, piece.link)):
        words = "".join(" → " + piece.text if piece.is_address else piece.text for piece in group)
        inside = "<br>" if elements[-1:] == ("br",) else escape(words)
        for element in reversed([element for element in elements if element != "br"]):
            attributes = f' href="{escape(link.href)}" title="{escape(link.title)}"' if element == "a" and link else ""
            inside = f"<{element}{attributes}>{inside}</{element}>"
        yield inside
