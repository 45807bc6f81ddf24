"""How two Markdown texts differ for those who read them: the new one, rendered, with what was removed put back in."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from config.http.cpu_budget import check_cpu
from teams.differences.alignment import aligned
from teams.differences.blocks import Block, blocks_of
from teams.differences.pairing import Pair, paired
from teams.differences.pieces import Piece
from teams.differences.words import island_between, tidied
from teams.differences.writing import Marked, Writer
from teams.markdown import cleaned_with_marks

AROUND = 2
"""Unchanged blocks that are shown on each side of a change; the others can be opened."""


@dataclass(frozen=True, slots=True)
class RenderedDifference:
    """`changes` counts the places with an id, change-1 and so on: none where both texts read the same."""

    html: SafeString
    changes: int


def rendered_comparison(old: str, new: str) -> RenderedDifference:
    """The new text as HTML with its changes marked by `ins` and `del`, safe to show."""
    writer = Writer()
    _write_folded(writer, paired(blocks_of(old), blocks_of(new)))
    return RenderedDifference(cleaned_with_marks("".join(writer.html)), writer.changes)


def _write_folded(writer: Writer, pairs: Sequence[Pair]) -> None:
    """The outermost blocks: long stretches of unchanged ones are folded."""
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


def _write_fold(writer: Writer, pairs: Sequence[Pair]) -> None:
    count = len(pairs)
    words = ngettext("%(count)s unchanged paragraph", "%(count)s unchanged paragraphs", count) % {"count": count}
    writer.html.append(f'<details class="unchanged"><summary>{words}</summary>\n')
    _write(writer, pairs)
    writer.html.append("</details>\n")


def _is_unchanged(pair: Pair) -> bool:
    old, new = pair
    return old is not None and new is not None and old.signature == new.signature


def _write(writer: Writer, pairs: Sequence[Pair]) -> None:
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


def _write_changed(writer: Writer, old: Block, new: Block) -> None:
    if (old.kind, old.detail) != (new.kind, new.detail):
        writer.note(_named(old), _named(new))
    if old.children or new.children:
        writer.open(new)
        _write(writer, paired(old.children, new.children))
        writer.close(new)
    else:
        writer.leaf(new, _marked(old.word_pieces, new.word_pieces))


def _marked(old: Sequence[Piece], new: Sequence[Piece]) -> list[Marked]:
    marked: list[Marked] = []
    is_island = island_between([piece.text for piece in old], [piece.text for piece in new])
    for span in tidied(aligned([piece.look for piece in old], [piece.look for piece in new]), is_island):
        after = new[span.new_from : span.new_to]
        if span.same:
            marked.extend(("equal", piece) for piece in after)
        else:
            marked.extend(("removed", piece) for piece in old[span.old_from : span.old_to])
            marked.extend(("added", piece) for piece in after)
    return marked


def _named(block: Block) -> str:
    """What people call such a block."""
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
