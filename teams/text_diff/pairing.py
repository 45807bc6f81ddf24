"""This module pairs the blocks of a new text with the blocks of the old text from which they come."""

from collections import Counter
from collections.abc import Sequence

from config.http.cpu_budget import check_cpu
from teams.text_diff.alignment import align
from teams.text_diff.blocks import Block

MIN_SHARED = 0.4
"""The minimum share of the letters of the shorter block that two blocks must have in common to be a pair."""
_CELLS = {"th", "td"}
_ALIKE = ({"paragraph", "heading"}, {"bullet_list", "ordered_list"}, _CELLS)
_CONTAINERS = {"bullet_list", "ordered_list", "blockquote", "table", "thead", "tbody"}

BlockPair = tuple[Block | None, Block | None]
"""A block of the old text with its counterpart in the new text; None on one side if it was removed or added."""


def pair_blocks(old: Sequence[Block], new: Sequence[Block]) -> list[BlockPair]:
    """Return all blocks of both texts in reading order."""
    pairs: list[BlockPair] = []
    if len(old) == len(new) and all(block.kind in _CELLS for block in (*old, *new)):
        return list(zip(old, new, strict=True))  # a cell that moved would stand in another's column
    for span in align([block.signature for block in old], [block.signature for block in new]):
        before, after = old[span.old_from : span.old_to], new[span.new_from : span.new_to]
        pairs.extend(zip(before, after, strict=True) if span.same else _match_blocks(before, after))
    return pairs


def _match_blocks(old: Sequence[Block], new: Sequence[Block]) -> list[BlockPair]:
    """Return pairs of blocks that share most of their words. Words are matched in order, so no two pairs cross."""
    partners = _partners(old, new)
    pairs: list[BlockPair] = []
    next_new = 0
    for index, block in enumerate(old):
        if index not in partners:
            pairs.append((block, None))
            continue
        pairs.extend((None, added) for added in new[next_new : partners[index]])
        pairs.append((block, new[partners[index]]))
        next_new = partners[index] + 1
    pairs.extend((None, added) for added in new[next_new:])
    return pairs


def _partners(old: Sequence[Block], new: Sequence[Block]) -> dict[int, int]:
    shared = _shared_letters(old, new)
    taken: set[int] = set()
    partners: dict[int, int] = {}
    for (here, there), letters in sorted(shared.items(), key=lambda item: (-item[1], item[0])):
        check_cpu()
        if here not in partners and there not in taken and _belong_together(old[here], new[there], letters):
            partners[here] = there
            taken.add(there)
    if len(old) == len(new) == 1 and not partners and _are_similar_kinds(old[0], new[0]) and old[0].kind in _CONTAINERS:
        partners[0] = 0
    return partners


def _shared_letters(old: Sequence[Block], new: Sequence[Block]) -> Counter[tuple[int, int]]:
    """Return how many letters of common words each block of the old text has with each block of the new one."""
    before = [(word, index) for index, block in enumerate(old) for word in block.words]
    after = [(word, index) for index, block in enumerate(new) for word in block.words]
    shared: Counter[tuple[int, int]] = Counter()
    for span in align([word for word, _ in before], [word for word, _ in after]):
        if span.same:
            for (word, here), (_, there) in zip(
                before[span.old_from : span.old_to], after[span.new_from : span.new_to], strict=True
            ):
                shared[here, there] += len(word)
    return shared


def _belong_together(old: Block, new: Block, letters: int) -> bool:
    if not _are_similar_kinds(old, new):
        return False
    if old.kind in _CONTAINERS:
        return True
    return letters >= MIN_SHARED * min(sum(map(len, old.words)), sum(map(len, new.words)))


def _are_similar_kinds(old: Block, new: Block) -> bool:
    return old.kind == new.kind or any({old.kind, new.kind} <= kinds for kinds in _ALIKE)
