"""Numbers with units, dates and times that statements name, and how they are compared."""

import pytest

from assembly.conflicts.detection.date_values import dates_in
from assembly.conflicts.detection.lexicon import load_lexicon
from assembly.conflicts.detection.quantities import Quantity, quantities_in
from assembly.conflicts.detection.statement_analysis import analyse


def quantities(text: str) -> list[Quantity]:
    return quantities_in(text, [], load_lexicon("english"))


@pytest.mark.parametrize(
    ("text", "dimension", "value"),
    [
        ("It takes 2 h.", "time", 7_200),
        ("It takes 120 minutes.", "time", 7_200),
        ("An hour and a half.", "time", 5_400),
        ("Half an hour.", "time", 1_800),
        ("It takes 4 h 10 min.", "time", 15_000),
        ("1,000 files", "count", 1_000),
        ("1k files", "count", 1_000),
        ("twelve files", "count", 12),
        ("3.4%", "percent", 3.4),
        ("half of the members", "percent", 50),
        ("€23,500", "EUR", 23_500),
        ("32,500.50 euros", "EUR", 32_500.5),
        ("$12M", "USD", 12_000_000),
        ("9 million dollars", "USD", 9_000_000),
        ("80 cm", "length", 0.8),
        ("12 hectares", "area", 120_000),
        ("500 g", "mass", 0.5),
        ("2,000 kB", "data", 2_000_000),
        ("190 °C", "temperature", 190),
    ],
)
def test_a_number_is_read_with_its_unit(text: str, dimension: str, value: float) -> None:
    [found] = quantities(text)
    assert found.dimension == dimension
    assert [found.low, found.high] == pytest.approx([value, value])


@pytest.mark.parametrize("text", ["OPS-771", "v2", "class 7b", "no one knows", "the one who knows", "a_1", "1.2.3"])
def test_names_are_no_numbers(text: str) -> None:
    assert quantities(text) == []


def test_german_numbers_have_a_comma_before_decimals() -> None:
    found = quantities_in("Es kostet 1.200 Euro und dauert 3,5 Stunden.", [], load_lexicon("german"))
    assert [one.low for one in found] == [1_200, 12_600]


@pytest.mark.parametrize(
    ("left", "right", "differ"),
    [
        ("It takes two hours.", "It takes 120 minutes.", False),
        ("It takes two hours.", "It takes three hours.", True),
        ("It lasts a year.", "It lasts 12 months.", False),
        ("at least 3 nodes", "5 nodes", False),
        ("at most 3 nodes", "5 nodes", True),
        ("at most 3 nodes", "at most 5 nodes", True),
        ("about 300 members", "312 members", False),
        ("300 members", "312 members", True),
        ("3-5 days", "4 days", False),
        ("twice a day", "2 times daily", False),
        ("twice a day", "twice a week", True),
        ("60 requests per minute", "1 request per second", False),
        ("It listens on port 6379.", "It listens on port 6380.", True),
        ("3 nodes", "5 workers", False),
        ("8 kg", "8 cm", False),
        ("It cost 2019 euros.", "It cost 2021 euros.", True),
        ("It cost 2,019 euros.", "It cost 2,000 euros.", True),
        ("It cost 2,000 euros.", "It cost 2,005 euros.", False),
        ("12.3 litres", "12.34 litres", False),
        ("101 km", "63 miles", False),
    ],
)
def test_numbers_of_one_dimension_are_compared(left: str, right: str, *, differ: bool) -> None:
    pairs = [
        (mine, theirs)
        for mine in analyse(left, "english").quantities
        for theirs in analyse(right, "english").quantities
        if mine.is_comparable(theirs)
    ]
    assert any(mine.difference(theirs) for mine, theirs in pairs) is differ
    assert all(mine.difference(theirs) == theirs.difference(mine) for mine, theirs in pairs)


@pytest.mark.parametrize(
    ("left", "right", "days"),
    [
        ("on 31 March 2026", "2026-03-31", 0),
        ("on March 31st", "on 31 March 2026", 0),
        ("in March", "on 31 March", 0),
        ("on 12 March", "on 19 March", 7),
        ("in 1934", "in 1951", 17 * 365),
        ("by the end of 2027", "31 December 2027", 0),
        ("in Q2 2026", "in Q4 2026", 180),
        ("on the 25th", "on the 1st", 24),
        ("on Monday", "on Sundays", 1),
        ("at half past nine", "at 9:30", 0),
        ("at 5 pm", "at 17:00", 0),
        ("at noon", "at 13:00", 1 / 24),
        ("am 3. Mai", "on 3 May", 0),
        ("um 14 Uhr", "at 2 pm", 0),
        ("halb neun", "8:30", 0),
    ],
)
def test_dates_have_a_distance_in_what_both_say(left: str, right: str, days: float) -> None:
    [mine], [theirs] = dates_in(left), dates_in(right)
    assert mine.distance(theirs) == theirs.distance(mine) == pytest.approx(days)


@pytest.mark.parametrize(
    "text", ["It may rain.", "Jan is tall.", "March on!", "8.5 km", "the 25th floor", "2026-13-40"]
)
def test_other_words_and_numbers_are_no_dates(text: str) -> None:
    assert dates_in(text) == []


def test_a_weekday_and_a_day_cannot_be_compared() -> None:
    [monday], [march] = dates_in("on Monday"), dates_in("on 3 March")
    assert monday.distance(march) is None


@pytest.mark.parametrize(
    ("text", "years"),
    [("The company was founded 2019.", [2019]), ("It runs through 2026.", [2026]), ("The year 2019 was good.", [2019]),
     ("It began in early 2019 and goes on.", [2019]), ("It opened mid-2019.", [2019]), ("In summer 2019.", [2019]),
     ("It ends no later than 2026.", [2026]), ("It was built in 1887.", [1887]),
     ("It ran from 2010-2019.", [2010, 2019]),
     ("Es wurde im Jahr 2019 gegründet.", [2019]),
     ("Fue fundada en el año 2019.", [2019]),
     ("It seats 2019 people.", []), ("It sells for 2000.", []), ("It holds between 2000 and 3000 chairs.", []),
     ("It has more than 2000.", []), ("It has 1950 members.", []),
     ("It is sold in 1500 shops.", []), ("Room 2019 is free.", []), ("It rang until 1730.", []),
     ("OPS-2019 is done.", []), ("It costs 2019.50 euros.", [])],
)  # fmt: skip
def test_a_bare_year_is_a_date(text: str, years: list[int]) -> None:
    assert [one.year for one in dates_in(text)] == years
