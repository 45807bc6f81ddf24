"""Which language a text is in, by its stop words."""

import pytest
from django.db import connection

from memories.search.languages import LANGUAGES, READ_CHARACTERS, detected_language, languages_by_evidence, stop_words


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The invoices are paid, and nobody has asked for more.", "english"),
        ("Ada: Ich habe die Rechnungen gestern bezahlt, und das war alles.", "german"),
        ("Las facturas están pagadas, y nadie ha preguntado por nada más.", "spanish"),
        ("Les factures sont payées, et personne n'a rien demandé de plus avec ça.", "french"),
        ("Le fatture sono state pagate, e nessuno ha chiesto altro per questo.", "italian"),
        ("As faturas foram pagas, mas ninguém pediu mais nada para isso.", "portuguese"),
        ("De facturen zijn betaald, en niemand heeft om meer gevraagd dan dat.", "dutch"),
        ("Fakturorna är betalda, och ingen har frågat efter mer än det.", "swedish"),
        ("Laskut on maksettu, eikä kukaan ole kysynyt siitä mitään, mutta hän tietää sen.", "finnish"),
        ("Счета оплачены, и никто не спросил, что еще было нужно для этого.", "russian"),
    ],
)
def test_sentences_tell_their_language(text: str, language: str) -> None:
    assert detected_language(text) == language


@pytest.mark.parametrize("text", ["", "Tea", "Die Hard", "La Paz", "12:30 to 13:45", "x" * 20_000])
def test_names_and_numbers_tell_none(text: str) -> None:
    assert detected_language(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "Was the man in the car, or did he die in the war?",  # seven of them are German words, too
        "import os, sys; os.environ['E'] = 'no'  # set it before the server is started",
        "def walk(self, tree): for leaf in tree: if leaf is not None: return self.walk(leaf)",
    ],
)
def test_english_and_code_are_taken_for_nothing_else(text: str) -> None:
    assert detected_language(text) in {"english", None}


def test_a_quotation_does_not_change_the_language_nor_does_what_stands_far_behind() -> None:
    german = "Sie sagte, dass sie nicht mehr kommt, und dann war sie weg."
    assert detected_language(f"{german} “The rest is silence.”") == "german"
    assert detected_language(german + " " * READ_CHARACTERS + "the and of with from they were " * 50) == "german"


def test_english_comes_before_its_equals() -> None:
    assert languages_by_evidence("Oslo Bergen") == LANGUAGES
    assert languages_by_evidence("was in")[0] == "english"
    assert languages_by_evidence("Wo ist die Rechnung?")[0] == "german"


@pytest.mark.django_db
@pytest.mark.parametrize("language", LANGUAGES)
def test_stop_words_are_those_of_the_database(language: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT length(to_tsvector(%s::regconfig, %s))", [language, " ".join(stop_words(language))])
        assert cursor.fetchone() == (0,)
