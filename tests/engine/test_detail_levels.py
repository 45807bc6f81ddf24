"""Levels of detail: what a text is about, its most telling sentences, and the text itself."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assembly.engine.detail_levels import MACRO_DIVISOR, MAX_CHARACTERS, MAX_MACRO_TOKENS, derive_levels
from assembly.engine.extraction import GAP
from assembly.engine.overflow import MIN_SHORTENED_TOKENS, SHORTENED_DIVISOR
from assembly.engine.tokenizers import Tokenizer, get_tokenizer
from tests.engine.factories import texts

CHARS4 = get_tokenizer("chars4")
CL100K = get_tokenizer("cl100k_base")

PROSE = (
    "Thanks a lot for asking. I met Laura on the set of Blue Horizon Studios in 2019, and she recommended the event to "
    "me. It would be nice to hear what you think about all that. Whatever you prefer is fine with me, as ever. The "
    "budget for the trip to Lisbon is 12,400 euros, of which 3,000 are spent already. I hope that this is of some use. "
    "Have a good day, and let me know whether there is anything else that I could do for you at the moment."
)
TURN = f"Ada Lovelace: {PROSE}"
GERMAN = (
    "Ansonsten ist hier alles wie immer, und wir freuen uns sehr darauf. Der Termin mit Frau Lindqvist wurde auf den "
    "14. März 2026 verschoben, weil die Halle in Rostock erst dann frei ist. Bitte denkt daran, dass wir vorher noch "
    "einiges erledigen müssen. Das Budget liegt bei 12.400 Euro. Es wäre schön, wenn ihr mir sagen könntet, wer von "
    "euch dann alles mitkommen möchte, damit ich das rechtzeitig weitergeben kann."
)
JAPANESE = (
    "鈴木: よろしくお願いいたします。来週の会議は四月十二日に大阪支社で行います。参加者は田中さんと山本さんの二名です。"
    "資料はまだ準備中ですが、予算は三百万円を予定しています。前回の会議ではプロジェクトの遅れについて話し合いました。"
    "サーバーの移行は五月末までに完了する必要があります。皆様のご協力に感謝いたします。"
)
MARKDOWN = "\n\n".join(
    [
        "# Harbour handbook",
        "The handbook says how ships are received in the harbour, and who decides what.",
        "## Pilots",
        "A pilot boards each ship above 90 metres. The pilots are reached on channel 12. Nobody else may bring such a "
        "ship in, whatever the weather may be, and there are no exceptions to that at all.",
        "## Fees",
        "Fees are due within 14 days. They depend on the length of the ship and on how long it stays at the quay, as "
        "the table on the wall of the office shows to everyone who would like to know.",
        "```\nfees = length * days\nprint(fees)\n```",
    ]
)
CODE = "\n".join(
    [
        "harbour/fees.py:12",
        "class FeeCalculator:",
        '    """Computes the fees of a ship by its length."""',
        "    def __init__(self, length, days):",
        "        self.length = length",
        "        self.days = days",
        "",
        "    def total_fee(self):",
        "        if self.days == 0:",
        "            return 0",
        "        return self.length * self.days * RATE_PER_METRE",
        "",
        "    def reminder_after_days(self):",
        "        return 14",
    ]
)


@pytest.mark.parametrize("text", ["", " \n ", "Fine.", "One short sentence, and another one.", "word " * 59])
def test_a_short_text_has_one_level(text: str) -> None:
    assert derive_levels(text, CL100K) == {}


def test_a_message_keeps_its_facts_and_loses_its_pleasantries() -> None:
    levels = derive_levels(PROSE, CL100K)
    assert levels["micro"] == (
        "I met Laura on the set of Blue Horizon Studios in 2019, … The budget for the trip to Lisbon is 12,400 euros,"
    )
    assert (
        "I met Laura on the set of Blue Horizon Studios in 2019," in derive_levels(f"{PROSE} {PROSE}", CL100K)["macro"]
    )


def test_the_speaker_of_a_turn_stays() -> None:
    levels = derive_levels(TURN, CL100K)
    assert levels["macro"].startswith("Ada Lovelace: … ")
    assert levels["micro"].startswith("Ada Lovelace: … ")
    assert "Blue Horizon Studios" in levels["micro"]


def test_german_dates_and_names_stay_together() -> None:
    assert derive_levels(GERMAN, CL100K)["micro"].startswith(
        "Der Termin mit Frau Lindqvist wurde auf den 14. März 2026 verschoben,"
    )


def test_japanese_sentences_are_told_apart() -> None:
    micro = derive_levels(JAPANESE, CL100K)["micro"]
    assert micro.startswith("鈴木: ")
    assert "四月十二日" in micro
    assert "よろしくお願いいたします" not in micro


def test_a_file_keeps_its_title_and_its_outline() -> None:
    levels = derive_levels(f"{MARKDOWN}\n\n{PROSE}", CL100K)
    assert levels["macro"].startswith("# Harbour handbook")
    assert "## Pilots" in levels["macro"]
    assert levels["micro"].startswith("# Harbour handbook\n\nThe handbook says how ships are received in the harbour,")
    assert "channel 12" in levels["micro"]
    assert "print(" not in levels["micro"], "code says little within prose"


def test_a_passage_of_code_keeps_its_path() -> None:
    levels = derive_levels(CODE, CL100K)
    assert levels["macro"].startswith("harbour/fees.py:12")
    assert levels["micro"].startswith("harbour/fees.py:12\nclass FeeCalculator:")
    assert "\n    def " in levels["micro"], "lines keep their indentation"


def test_entries_of_lists_keep_their_numbers_and_wrapped_lines_are_one_sentence() -> None:
    text = "Plan:\n1. Call Mrs Okafor about the permit.\n2. Order 40 chairs.\n" + "and so on it goes there\n" * 20
    assert "1. Call Mrs Okafor about the permit." in derive_levels(text, CL100K)["micro"]
    wrapped = "The ferry of the company that we chartered for Rostock leaves on 3 May\nand returns on 9 May. "
    assert "leaves on 3 May\nand returns on 9 May." in derive_levels(wrapped + "It may be so. " * 20, CL100K)["micro"]


def test_a_level_is_missing_where_nothing_fits() -> None:
    assert derive_levels("x" * 5_000, CL100K) == {}
    assert derive_levels("- - -\n" * 500, CL100K) == {}
    assert "macro" not in derive_levels(JAPANESE[:100], CL100K)


@dataclass
class Counting:
    """A tokenizer that notes the lengths of the texts which it counts."""

    inner: Tokenizer
    lengths: list[int] = field(default_factory=list)
    name: str = "counting"
    additive_at_line_starts: bool = False
    seam: None = None

    def count(self, text: str) -> int:
        self.lengths.append(len(text))
        return self.inner.count(text)

    def knows(self, text: str) -> bool:
        return self.inner.knows(text)

    def learn(self, text: str, tokens: int) -> None:
        self.inner.learn(text, tokens)

    def prefix(self, text: str, max_tokens: int) -> int:
        return self.inner.prefix(text, max_tokens)


@pytest.mark.parametrize("unit", ["A line about ship 12 and Ada.\n", "words without an end ", "a, ", "x", "。"])
def test_of_a_very_long_text_only_the_beginning_is_considered(unit: str) -> None:
    tokenizer = Counting(CL100K)
    text = unit * (1_000_000 // len(unit))
    levels = derive_levels(text, tokenizer)
    assert max(tokenizer.lengths) <= MAX_CHARACTERS
    assert len(tokenizer.lengths) < 4_000
    assert levels == derive_levels(text[: 2 * MAX_CHARACTERS], CL100K)


SENTENCES = st.lists(
    st.sampled_from(
        [
            *PROSE.split(". "),
            *GERMAN.split(". "),
            *JAPANESE.split("。"),
            *MARKDOWN.split("\n"),
            *CODE.split("\n"),
            "Ada: yes.",
            "1. One",
            "12",
        ]
    ),
    max_size=40,
)
LONG_TEXTS = st.one_of(
    st.builds(str.join, st.sampled_from([". ", "\n", "\n\n", "。", ", ", " "]), SENTENCES),
    texts(max_fragments=80).map(lambda text: text.replace("…", "")),
)


@pytest.mark.parametrize("tokenizer", [CHARS4, CL100K], ids=["chars4", "cl100k"])
@given(text=LONG_TEXTS)
def test_the_limits_hold_and_the_pieces_are_parts_of_the_text(tokenizer: Tokenizer, text: str) -> None:
    levels = derive_levels(text, tokenizer)
    tokens = tokenizer.count(text)
    assert levels == derive_levels(text, tokenizer)
    assert not levels or tokens >= MIN_SHORTENED_TOKENS
    assert all(levels.values())
    if macro := levels.get("macro"):
        assert tokenizer.count(macro) <= min(MAX_MACRO_TOKENS, tokens / MACRO_DIVISOR)
        assert tokenizer.count(macro) < tokenizer.count(levels["micro"])
    if micro := levels.get("micro"):
        assert tokenizer.count(micro) <= tokens / SHORTENED_DIVISOR
    for level in levels.values():
        position = 0
        for piece in level.split(GAP.rstrip()):
            found = text.find(piece.strip(), position)
            assert found >= 0, piece
            position = found + len(piece.strip())
