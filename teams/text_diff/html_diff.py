"""This module renders the difference of two Markdown texts as HTML: the new text, with removed and
added words marked.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from config.http.cpu_budget import check_cpu
from teams.text_diff.alignment import align
from teams.text_diff.blocks import Block, InlineText, parse_blocks
from teams.text_diff.difference import RunKind, island_between, merge_across_islands
from teams.text_diff.markdown import clean_diff_html
from teams.text_diff.pairing import BlockPair, pair_blocks

MarkedText = tuple[RunKind, InlineText]


class HtmlWriter:
    """A writer that collects HTML.

    Adjacent changes count as one; the first element of a change has an id such as change-1.
    """

    def __init__(self) -> None:
        self.html: list[str] = []
        self.changes = 0
        self._in_change = False

    def open(self, block: Block, kind: RunKind = "equal") -> None:
        """Write the start of a block that contains other blocks."""
        if block.is_hidden:
            return
        start = f' start="{escape(block.detail)}"' if block.kind == "ordered_list" and block.detail != "1" else ""
        mark = f' class="{kind}"' if block.kind == "list_item" and kind != "equal" else ""
        self.html.append(f"<{block.tag}{start}{mark}>")

    def close(self, block: Block) -> None:
        if not block.is_hidden:
            self.html.append(f"</{block.tag}>\n")

    def whole(self, block: Block, kind: RunKind) -> None:
        """Write a block that is unchanged, removed or added as a whole."""
        if block.children:
            self.open(block, kind)
            for child in block.children:
                self.whole(child, kind)
            self.close(block)
        else:
            self.leaf(block, [(kind, piece) for piece in block.pieces] or [(kind, InlineText(""))])

    def leaf(self, block: Block, marked: Sequence[MarkedText]) -> None:
        """Write a block of words. A rule, or a cell without words, is marked as a whole."""
        if block.kind == "hr":
            self.html.extend(self._wrapped(marked[0][0], ["<hr>\n"]))
            return
        self.open(block)
        self.html.append("<code>" if block.kind == "code" else "")
        self.words(marked)
        self.html.append("</code>" if block.kind == "code" else "")
        self.close(block)

    def words(self, marked: Iterable[MarkedText]) -> None:
        for kind, group in groupby(marked, key=lambda one: one[0]):
            self.html.extend(self._wrapped(kind, _inline([piece for _, piece in group], kind)))

    def note(self, old: str, new: str) -> None:
        """Write a note that a block became a block of another kind."""
        self.html.append('<div class="kinds">')
        self.words([("removed", InlineText(old)), ("added", InlineText(new))])
        self.html.append("</div>\n")

    def _wrapped(self, kind: RunKind, html: Iterable[str]) -> Iterator[str]:
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


def _inline(pieces: Sequence[InlineText], kind: RunKind) -> Iterator[str]:
    """Yield the texts within their elements; neighbours with the same marks share an element."""
    visible = [piece for piece in pieces if kind != "equal" or not piece.is_address]
    for (elements, link), group in groupby(visible, key=lambda piece: (piece.elements, piece.link)):
        words = "".join(" → " + piece.text if piece.is_address else piece.text for piece in group)
        inside = "<br>" if elements[-1:] == ("br",) else escape(words)
        for element in reversed([element for element in elements if element != "br"]):
            attributes = f' href="{escape(link.href)}" title="{escape(link.title)}"' if element == "a" and link else ""
            inside = f"<{element}{attributes}>{inside}</{element}>"
        yield inside


AROUND = 2
"""The number of unchanged blocks that are shown before and after a change; the others are folded."""


@dataclass(frozen=True, slots=True)
class HtmlDiff:
    """A difference as HTML. `changes` is the number of changes with an id; 0 if both texts look the same."""

    html: SafeString
    changes: int


def html_diff(old: str, new: str) -> HtmlDiff:
    """Return the new text as safe HTML, with its changes marked by `ins` and `del`."""
    writer = HtmlWriter()
    _write_folded(writer, pair_blocks(parse_blocks(old), parse_blocks(new)))
    return HtmlDiff(clean_diff_html("".join(writer.html)), writer.changes)


def _write_folded(writer: HtmlWriter, pairs: Sequence[BlockPair]) -> None:
    """Write the outermost blocks, with long unchanged stretches folded."""
    at = 0
    for unchanged, group in groupby(pairs, key=_is_unchanged):
        some = list(group)
        ahead = AROUND if at else 0
        behind = AROUND if at + len(some) < len(pairs) else 0
        at += len(some)
        folded = some[ahead : len(some) - behind]
        if not unchanged or len(folded) <= 1 or len(folded) == len(pairs):
            _write(writer, some)
            continue
        _write(writer, some[:ahead])
        _write_fold(writer, folded)
        _write(writer, some[len(some) - behind :])


def _write_fold(writer: HtmlWriter, pairs: Sequence[BlockPair]) -> None:
    count = len(pairs)
    words = ngettext("%(count)s unchanged paragraph", "%(count)s unchanged paragraphs", count) % {"count": count}
    writer.html.append(f'<details class="unchanged"><summary>{words}</summary>\n')
    _write(writer, pairs)
    writer.html.append("</details>\n")


def _is_unchanged(pair: BlockPair) -> bool:
    old, new = pair
    return old is not None and new is not None and old.signature == new.signature


def _write(writer: HtmlWriter, pairs: Sequence[BlockPair]) -> None:
    for old, new in pairs:
        check_cpu()
        if old is None and new is not None:
            writer.whole(new, "added")
        elif old is not None and new is None:
            writer.whole(old, "removed")
        elif old is None or new is None:
            continue
        elif old.signature == new.signature:
            writer.whole(new, "equal")
        else:
            _write_changed(writer, old, new)


def _write_changed(writer: HtmlWriter, old: Block, new: Block) -> None:
    if (old.kind, old.detail) != (new.kind, new.detail):
        writer.note(_block_name(old), _block_name(new))
    if old.children or new.children:
        writer.open(new)
        _write(writer, pair_blocks(old.children, new.children))
        writer.close(new)
    else:
        writer.leaf(new, _mark_pieces(old.word_texts, new.word_texts))


def _mark_pieces(old: Sequence[InlineText], new: Sequence[InlineText]) -> list[MarkedText]:
    marked: list[MarkedText] = []
    is_island = island_between([piece.text for piece in old], [piece.text for piece in new])
    for span in merge_across_islands(
        align([piece.appearance for piece in old], [piece.appearance for piece in new]), is_island
    ):
        after = new[span.new_from : span.new_to]
        if span.same:
            marked.extend(("equal", piece) for piece in after)
        else:
            marked.extend(("removed", piece) for piece in old[span.old_from : span.old_to])
            marked.extend(("added", piece) for piece in after)
    return marked


def _block_name(block: Block) -> str:
    """Return the name of the kind of block, for readers."""
    names = {
        "paragraph": _("paragraph"),
        "heading": _("heading %(level)s") % {"level": block.detail.removeprefix("h")},
        "bullet_list": _("list with bullets"),
        "ordered_list": _("list numbered from %(number)s") % {"number": block.detail},
        "th": _("heading of a column"),
        "td": _("cell"),
    }
    code = _("code (%(language)s)") % {"language": block.detail} if block.detail else _("code")
    return names.get(block.kind, code)


def html_diff_fragment(old: str, new: str) -> SafeString:
    """Return the new Markdown text as safe HTML, with added words in `ins` and removed ones in `del`."""
    return html_diff(old, new).html
