"""What German and Spanish questions say of time, and how their texts do."""

import datetime

import pytest
from django.db import connection

from memories.search.question import parse_question
from memories.search.time_expressions import TIME_EXPRESSIONS

TODAY = datetime.date(2023, 10, 25)  # a Wednesday

DAYS = [
    ("Was war am 7. Mai 2023?", "2023-05-07", ""),
    ("Was hat sie am 7.5.2023 gesagt?", "2023-05-07", ""),
    ("Was hat Ada am 2023-02-28 gemacht?", "2023-02-28", ""),
    ("Was ist im Juli 2023 passiert?", "2023-07-01", "2023-07-31"),
    ("Was war im letzten Mai?", "2023-05-01", "2023-05-31"),
    ("Was ist nächsten März?", "2024-03-01", "2024-03-31"),
    ("Wer war gestern bei uns?", "2023-10-24", ""),
    ("Wer war vorgestern bei uns?", "2023-10-23", ""),
    ("Was ist übermorgen bei uns?", "2023-10-27", ""),
    ("Was war in der letzten Woche?", "2023-10-16", "2023-10-22"),
    ("Was haben wir diesen Monat vor?", "2023-10-01", "2023-10-31"),
    ("Was war vor drei Tagen?", "2023-10-22", ""),
    ("Wo war sie vor einem Jahr?", "2022-01-01", "2022-12-31"),
    ("Was hat er am Montag gesagt?", "2023-10-23", ""),
    ("Was ist nächsten Mittwoch?", "2023-11-01", ""),
    ("Was war 2021 in der Firma?", "2021-01-01", "2021-12-31"),
    ("¿Qué hizo Ada el 7 de mayo de 2023?", "2023-05-07", ""),
    ("¿Qué hizo Ada el 7/5/2023?", "2023-05-07", ""),
    ("¿Qué pasó en julio de 2023?", "2023-07-01", "2023-07-31"),
    ("¿Qué pasó el pasado mayo?", "2023-05-01", "2023-05-31"),
    ("¿Qué dijo ayer?", "2023-10-24", ""),
    ("¿Qué dijo anteayer?", "2023-10-23", ""),
    ("¿Qué hay pasado mañana?", "2023-10-27", ""),
    ("¿Qué pasó la semana pasada?", "2023-10-16", "2023-10-22"),
    ("¿Qué hay este mes?", "2023-10-01", "2023-10-31"),
    ("¿Qué hay el próximo año?", "2024-01-01", "2024-12-31"),
    ("¿Qué dijo hace tres días?", "2023-10-22", ""),
    ("¿Qué hizo hace un año?", "2022-01-01", "2022-12-31"),
    ("¿Qué dijo el lunes?", "2023-10-23", ""),
    ("¿Qué hay el miércoles que viene?", "2023-11-01", ""),
]


@pytest.mark.parametrize(("text", "first", "last"), DAYS)
def test_days_are_read_as_those_who_ask_today_mean_them(text: str, first: str, last: str) -> None:
    [days] = parse_question(text, None, TODAY).days
    assert (days.first.isoformat(), days.last.isoformat()) == (first, last or first)


@pytest.mark.parametrize("text", ["Wer war am Morgen bei uns?", "¿Quién está en la mañana?", "Was war am 31.6.2023?"])
def test_what_names_no_day_is_not_read_as_one(text: str) -> None:
    assert parse_question(text, None, TODAY).days == ()


@pytest.mark.parametrize(
    ("text", "asks_when"),
    [
        ("Wann war das?", True),
        ("Seit wann arbeitet Ada hier?", True),
        ("Wie lange hat es gedauert?", True),
        ("In welchem Jahr war das?", True),
        ("An welchem Tag kam sie?", True),
        ("Wer kam, wann immer es regnete?", False),
        ("¿Cuándo llegó Ada?", True),
        ("cuando llegó", True),
        ("¿Desde cuándo trabaja aquí?", True),
        ("¿En qué año fue?", True),
        ("¿Qué día llegó?", True),
        ("¿Cuántos días?", False),
        ("Wie langsam war es?", False),
    ],
)
def test_whether_it_asks_for_a_time(text: str, asks_when: bool) -> None:
    assert parse_question(text, None, TODAY).asks_when is asks_when


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("language", "says", "says_none"),
    [
        (
            "german",
            "gestern vorgestern heute letzte nächsten vergangenes seit neulich tage wochen wochenende monaten jahre"
            " montags sonnabend sonntag 1999 2023",
            "rechnung blau 15",
        ),
        (
            "spanish",
            "ayer hoy mañana noche pasado próxima última hace reciente día días semanas meses año años lunes martes"
            " miércoles jueves viernes sábado domingo 2023",
            "factura azul 15",
        ),
    ],
)
def test_texts_say_a_time(language: str, says: str, says_none: str) -> None:
    query = TIME_EXPRESSIONS[language].time_words
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT word FROM unnest(%s::text[]) AS word WHERE to_tsvector(%s::regconfig, word) @@ %s::tsquery",
            [[*says.split(), *says_none.split()], language, query],
        )
        assert [word for (word,) in cursor.fetchall()] == says.split()
