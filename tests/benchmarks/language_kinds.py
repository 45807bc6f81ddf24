"""Kinds of text in German and Spanish, with the same in English beside them, to measure what languages cost.

The `translated` kinds are the catalogues of Django and django-allauth (BSD and MIT licences): texts that people
translated, those that have a German and a Spanish form, in all three. A question has three of the longer words of one,
each in another regular form: plural for singular, and back.

The `generated` kinds are conversations made of short lists of words: who did what with which thing, where and when. A
question names the thing in the plural and the deed in another tense, or asks when it was, or what was on a day.
"""

import ast
import datetime
import random
import re
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.text_kinds import DAYS_BETWEEN, FIRST_DAY, Document, Passage, write_file

CODES = {"english": "en", "german": "de", "spanish": "es"}
LEAST_WORDS = 6
REMEMBERED = 3
LEAST_LETTERS = 6
"""Shorter words have few forms, and most say little."""
SESSIONS, TURNS = 25, 24
PEOPLE = ("Ada", "Bruno", "Clara", "Diego")

_KEYWORD = re.compile(r'(msg\w+(?:\[\d\])?)\s+(".*")')
_MARKUP = re.compile(r"%\(\w+\)\w|%\w|\{\w*\}|<[^>]+>|[\"“”„«»&;]")
_FORMS: Mapping[str, Sequence[tuple[str, str]]] = {
    "english": (("ies", "y"), ("sses", "ss"), ("s", ""), ("y", "ies"), ("", "s")),
    "german": (
        ("ungen", "ung"), ("ung", "ungen"), ("heiten", "heit"), ("keit", "keiten"), ("ionen", "ion"), ("ion", "ionen"),
        ("en", "e"), ("er", "ern"), ("e", "en"), ("or", "oren"),
    ),
    "spanish": (
        ("iones", "ión"), ("ión", "iones"), ("as", "a"), ("os", "o"), ("es", "e"), ("a", "as"), ("o", "os"),
        ("e", "es"), ("l", "les"), ("r", "res"), ("d", "des"),
    ),
}  # fmt: skip
"""Endings and what takes their place; of each word, the first that it has."""


def write_language_kinds(folder: Path) -> list[Path]:
    """Write the files of all these kinds. The same packages give the same files."""
    catalogues = list(_catalogues())
    files = []
    for language, code in CODES.items():
        documents = [_catalogue(name, texts, language) for name, texts in catalogues]
        files.append(write_file(folder / f"translated_{language}/translated-{code}.json", documents))
    for language, talk in _TALKS.items():
        name = f"generated-{CODES[language]}"
        files.append(write_file(folder / f"generated_{language}/{name}.json", _generated(talk, name)))
    return files


def _catalogues() -> Iterator[tuple[str, list[Mapping[str, str]]]]:
    """Yield the name of each catalogue with its texts, each in all languages."""
    packages, seen = Path(sysconfig.get_path("purelib")), set[str]()
    for german in sorted([*packages.glob("django/**/locale/de/**/*.po"), *packages.glob("allauth/locale/de/**/*.po")]):
        spanish = Path(str(german).replace("/locale/de/", "/locale/es/"))
        both = {"german": _entries(german), "spanish": _entries(spanish)} if spanish.exists() else {}
        texts: list[Mapping[str, str]] = []
        for english in sorted(set.intersection(*(set(entries) for entries in both.values())) - seen if both else ()):
            text = {"english": english} | {language: entries[english] for language, entries in both.items()}
            plain = {language: _plain(one) for language, one in text.items()}
            if all(len(one.split()) >= LEAST_WORDS for one in plain.values()):
                seen.add(english)
                texts.append(plain)
        yield german.parts[german.parts.index("locale") - 1], texts


def _entries(file: Path) -> dict[str, str]:
    """Return the translations of a gettext catalogue by what they translate; none that is to be checked."""
    entries = {}
    for block in re.split(r"\n\s*\n", file.read_text(encoding="utf-8")):
        entry, keyword = dict[str, str](), ""
        for line in block.splitlines():
            if named := _KEYWORD.fullmatch(line):
                keyword = named[1]
                entry[keyword] = ast.literal_eval(named[2])
            elif keyword and line.startswith('"'):
                entry[keyword] += ast.literal_eval(line)
        if entry.get("msgid") and entry.get("msgstr") and "#, fuzzy" not in block:
            entries[entry["msgid"]] = entry["msgstr"]
    return entries


def _catalogue(name: str, texts: Sequence[Mapping[str, str]], language: str) -> Document:
    return Document(name, [Passage(text[language], _recalled(text[language], language)) for text in texts])


def _plain(text: str) -> str:
    return " ".join(_MARKUP.sub(" ", text).split())


def _recalled(text: str, language: str) -> tuple[str, ...]:
    """Return some words of the text in other forms, as the only question; none where it has few that are long."""
    words = sorted({word for word in re.findall(r"[^\W\d_]+", text) if len(word) >= LEAST_LETTERS})
    if len(words) < REMEMBERED:
        return ()
    chosen = random.Random(text).sample(words, REMEMBERED)
    return (" ".join(_other_form(word, language) for word in chosen),)


def _other_form(word: str, language: str) -> str:
    changes = ((ending, other) for ending, other in _FORMS[language] if word.endswith(ending))
    ending, other = next(changes, ("", ""))
    return word.removesuffix(ending) + other


@dataclass(frozen=True, slots=True)
class _Talk:
    """What conversations of a language are made of. Places in the texts are named as the fields of a turn are."""

    said: str
    asked: str
    asked_when: str
    asked_of_day: str
    things: Sequence[tuple[str, str]]
    """With its article, and in the plural with its article."""
    deeds: Sequence[tuple[str, str]]
    """As one says it of oneself, and as it is asked."""
    places: Sequence[str]
    times: Sequence[str]
    asides: Sequence[str]
    months: Sequence[str]


_TALKS: Mapping[str, _Talk] = {
    "german": _Talk(
        said="{time} habe ich {thing} {place} {deed}, {aside}.",
        asked="Wo {asked} {person} {things}?",
        asked_when="Wann {asked} {person} {things}?",
        asked_of_day="Was {asked} {person} am {day}. {month} {year}?",
        things=[tuple(line.split("/")) for line in (  # type: ignore[misc]
            "die Rechnung/die Rechnungen", "das Fahrrad/die Fahrräder", "die Wohnung/die Wohnungen",
            "die Tomate/die Tomaten", "die Lampe/die Lampen", "die Maschine/die Maschinen", "den Garten/die Gärten",
            "den Apfelbaum/die Apfelbäume", "die Kiste/die Kisten", "den Schrank/die Schränke",
            "die Zeitung/die Zeitungen", "die Tür/die Türen", "die Vase/die Vasen", "die Decke/die Decken",
            "die Brücke/die Brücken", "die Blume/die Blumen", "das Haus/die Häuser", "die Karte/die Karten",
            "das Bild/die Bilder", "den Stuhl/die Stühle", "die Pflanze/die Pflanzen", "die Kamera/die Kameras",
            "den Koffer/die Koffer", "das Buch/die Bücher",
        )],
        deeds=[tuple(line.split("/")) for line in (  # type: ignore[misc]
            "bezahlt/bezahlte", "repariert/reparierte", "bestellt/bestellte", "verkauft/verkaufte",
            "verschenkt/verschenkte", "fotografiert/fotografierte", "verloren/verlor", "gemalt/malte",
            "gesucht/suchte", "versteckt/versteckte", "gereinigt/reinigte", "vermessen/vermaß",
        )],
        places=["im Keller", "auf dem Markt", "bei den Nachbarn", "in der Werkstatt", "am Bahnhof", "in der Schule"],
        times=["Gestern", "Letzte Woche", "Am Sonntag", "Endlich", "Mit viel Mühe", "Ganz allein", "Vor zwei Tagen"],
        asides=[
            "und danach war ich sehr müde", "weil es nicht mehr anders ging", "obwohl keiner damit gerechnet hat",
            "was allen gefallen hat", "und das hat lange gedauert", "aber niemand hat es gesehen",
        ],
        months=("Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober",
                "November", "Dezember"),
    ),
    "spanish": _Talk(
        said="{time} {deed} {thing} {place}, {aside}.",
        asked="¿Dónde {asked} {person} {things}?",
        asked_when="¿Cuándo {asked} {person} {things}?",
        asked_of_day="¿Qué {asked} {person} el {day} de {month} de {year}?",
        things=[tuple(line.split("/")) for line in (  # type: ignore[misc]
            "la factura/las facturas", "la bicicleta/las bicicletas", "la habitación/las habitaciones",
            "el tomate/los tomates", "la lámpara/las lámparas", "la máquina/las máquinas", "el jardín/los jardines",
            "el manzano/los manzanos", "la caja/las cajas", "el armario/los armarios", "el periódico/los periódicos",
            "la puerta/las puertas", "el jarrón/los jarrones", "la manta/las mantas", "el puente/los puentes",
            "la flor/las flores", "la casa/las casas", "el mapa/los mapas", "el cuadro/los cuadros",
            "la silla/las sillas", "la planta/las plantas", "la cámara/las cámaras", "la maleta/las maletas",
            "el libro/los libros",
        )],
        deeds=[tuple(line.split("/")) for line in (  # type: ignore[misc]
            "pagué/ha pagado", "reparé/ha reparado", "pedí/ha pedido", "vendí/ha vendido", "regalé/ha regalado",
            "fotografié/ha fotografiado", "perdí/ha perdido", "pinté/ha pintado", "busqué/ha buscado",
            "escondí/ha escondido", "limpié/ha limpiado", "medí/ha medido",
        )],
        places=["en el sótano", "en el mercado", "con los vecinos", "en el taller", "en la estación", "en la escuela"],
        times=["Ayer", "La semana pasada", "El domingo", "Por fin", "Con mucho esfuerzo", "Sin ayuda", "Hace dos días"],
        asides=[
            "y después estaba muy cansada", "porque no había otra manera", "aunque nadie lo esperaba",
            "lo que gustó a todos", "y eso llevó mucho tiempo", "pero nadie lo vio",
        ],
        months=("enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre",
                "noviembre", "diciembre"),
    ),
}  # fmt: skip


def _generated(talk: _Talk, name: str) -> Iterator[Document]:
    """Yield sessions; no person does the same with the same thing twice. Dates are those that `write_file` gives."""
    chance, days = random.Random(f"{name}-turns"), random.Random(name)
    every = [(person, thing, deed) for person in PEOPLE for thing in talk.things for deed in talk.deeds]
    chosen = iter(chance.sample(every, SESSIONS * TURNS))
    day = FIRST_DAY
    for _ in range(SESSIONS):
        day += datetime.timedelta(days=days.randint(*DAYS_BETWEEN))
        yield Document("", [_turn(talk, next(chosen), day, chance) for _ in range(TURNS)])


def _turn(
    talk: _Talk, facts: tuple[str, tuple[str, str], tuple[str, str]], day: datetime.datetime, chance: random.Random
) -> Passage:
    person, (thing, things), (deed, asked) = facts
    values = {
        "person": person, "thing": thing, "things": things, "deed": deed, "asked": asked,
        "time": chance.choice(talk.times), "place": chance.choice(talk.places), "aside": chance.choice(talk.asides),
        "day": day.day, "month": talk.months[day.month - 1], "year": day.year,
    }  # fmt: skip
    form = chance.choice((talk.asked, talk.asked, talk.asked_when, talk.asked_of_day))
    return Passage(talk.said.format(**values), (form.format(**values),), person)
