"""What stands on a page hundreds of times is written as a template would write it: nothing of it is taken as HTML."""

from assembly.contexts.page import LinkedPart
from assembly.contexts.scores import MINUS_SIGN, ScorePart
from assembly.templatetags.written import cuts_marked, score_rows, signed

RUNS = (("Is 1 < 2 & “so”? ", False), ("... [truncated]", True))
TEXT = 'Is 1 &lt; 2 &amp; “so”? <mark class="cut">... [truncated]</mark>'


def test_the_mark_of_a_cut_is_set_apart() -> None:
    assert cuts_marked(RUNS) == TEXT


def test_what_is_of_no_item_has_no_signs() -> None:
    assert signed(LinkedPart(RUNS, None, begins=False)) == TEXT


def test_what_goes_on_from_the_stretch_before_is_no_place_to_go_to() -> None:
    assert signed(LinkedPart(RUNS, 7, begins=False)) == f'<span class="told">{TEXT}</span>'


def test_an_item_stands_between_its_signs() -> None:
    part = LinkedPart(
        RUNS, 7, begins=True, item_address="/items/?which=in&at=7", item_label='Why: “"quoted"”',
        source_address="/versions/1/", source_label="Version: <b>",
    )  # fmt: skip
    assert signed(part) == (
        '<span class="told" id="text-7" tabindex="-1">'
        '<a class="sign why-in" href="/items/?which=in&amp;at=7" aria-label="Why: “&quot;quoted&quot;”"></a>'
        f"{TEXT}"
        '<a class="sign source" href="/versions/1/" aria-label="Version: &lt;b&gt;"></a></span>'
    )


def test_without_a_version_to_read_there_is_no_sign_for_it() -> None:
    part = LinkedPart((("It.", False),), 0, begins=True, item_address="/items/", item_label="Why")
    assert signed(part).endswith('aria-label="Why"></a>It.</span>')


def test_a_share_has_a_row_and_a_bar_unless_it_counts_nothing() -> None:
    against, nothing = score_rows(
        [ScorePart("Trust & so on", 0.5, -1.25, 400), ScorePart("Steps away", None, None)]
    ).split("\n")
    assert '<th scope="row">Trust &amp; so on <span class="of">0.50</span></th>' in against
    assert '<svg class="part against" viewBox="0 0 1000 8"' in against
    assert f'<rect width="400" height="8"/></svg></td><td class="num">{MINUS_SIGN}1.25</td>' in against
    assert nothing == (
        '<tr><th scope="row">Steps away <span class="of"></span></th><td></td><td class="num">no weight</td></tr>'
    )
