"""National identity numbers and tax numbers, by their form, their check digits and words before them.

Some forms are told by themselves, such as an Italian codice fiscale. Others are common, such as eleven digits: a word
before them has to say what they are.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from stdnum import luhn
from stdnum.ar import cuit
from stdnum.ar import dni as argentine
from stdnum.at import vnr
from stdnum.au import tfn
from stdnum.be import nn
from stdnum.bg import egn
from stdnum.br import cnpj, cpf
from stdnum.ca import sin
from stdnum.ch import ssn as ahv
from stdnum.ch import uid
from stdnum.cl import rut
from stdnum.cn import ric
from stdnum.co import nit
from stdnum.cz import rc
from stdnum.de import idnr
from stdnum.dk import cpr
from stdnum.do import cedula
from stdnum.ec import ci
from stdnum.ee import ik
from stdnum.es import cif, dni, nie
from stdnum.eu import vat
from stdnum.fi import hetu
from stdnum.fr import nir
from stdnum.gb import nhs, utr
from stdnum.gb import vat as british_vat
from stdnum.gr import amka
from stdnum.hr import oib
from stdnum.id import npwp
from stdnum.ie import pps
from stdnum.il import idnr as israeli
from stdnum.in_ import aadhaar, pan
from stdnum.is_ import kennitala
from stdnum.it import codicefiscale
from stdnum.kr import rrn
from stdnum.lt import asmens
from stdnum.lv import pvn
from stdnum.mx import curp, rfc
from stdnum.my import nric
from stdnum.nl import bsn
from stdnum.no import fodselsnummer, mva
from stdnum.nz import ird
from stdnum.pe import cui as peruvian
from stdnum.pe import ruc
from stdnum.pk import cnic
from stdnum.pl import nip, pesel
from stdnum.pt import nif
from stdnum.ro import cnp
from stdnum.ru import inn
from stdnum.se import personnummer
from stdnum.si import emso
from stdnum.th import pin as thai
from stdnum.tr import tckimlik
from stdnum.ua import rntrc
from stdnum.us import ein, ssn
from stdnum.ve import rif
from stdnum.za import idnr as south_african

from assembly.masking.context_words import ContextPattern, PartsOfWords
from assembly.masking.spans import CONTEXT_REACH, Kind, Span, names_another_number


@dataclass(frozen=True, slots=True)
class NumberForm:
    """A form of numbers: a pattern, a check, and the words before it that it needs, if it needs any."""

    kind: Kind
    pattern: re.Pattern[str]
    is_valid: Callable[[str], bool]
    words: ContextPattern | None = None


def _form(kind: Kind, pattern: str, is_valid: Callable[[str], bool], words: str = "") -> NumberForm:
    whole = re.compile(rf"(?:{pattern})(?![\w]|[-/.]\d)")
    return NumberForm(kind, whole, is_valid, ContextPattern.of(words) if words else None)


UNCHECKED = re.compile("[ .]")
"""Separators that no check of a number expects."""
DAY_AND_MONTH = re.compile(r"(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])")


def _has_date(number: str, *, at: int = 0) -> bool:
    """Return whether the digits from `at` on are a day and a month."""
    return bool(DAY_AND_MONTH.match(re.sub(r"\D", "", number), at))


def _always(_number: str) -> bool:
    return True


def _is_vat_number(number: str) -> bool:
    """Return whether it is a valid number for value added tax, of the European Union or of Great Britain."""
    return british_vat.is_valid(number) if number.startswith(("GB", "XI")) else bool(vat.is_valid(number))


national, tax = partial(_form, "national_id"), partial(_form, "tax_id")
TAXES = r"\bein\b|\bw2\b|\bw-2\b|\bw9\b|\bw-9\b|employer identification|\btax|\birs\b|\btin\b"
SOCIAL = r"\bsocial\b|\bssn|\bsin\b|\bw2\b|\bw-2\b|\bw9\b|\bw-9\b|payroll|employee"

NATIONAL_FORMS = (
    national(r"\d{3}[ -]?\d{2}[ -]?\d{4}", ssn.is_valid, SOCIAL),
    national(r"\d{3}[ -]?\d{3}[ -]?\d{3}", sin.is_valid, SOCIAL),
    national(r"(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]", _always),
    national(r"\d{3}[ .]?\d{3}[ .]?\d{3}|\d{4}[ .]\d{2}[ .]\d{3}", bsn.is_valid, r"\bbsn\b|burgerservice|sofi"),
    national(r"(?:\d{8}|\d{2}\.\d{3}\.\d{3})[ -]?[A-HJ-NP-TV-Z]", dni.is_valid),
    national(r"[XYZ]-?\d{7}-?[A-HJ-NP-TV-Z]", nie.is_valid),
    national(r"[12] ?\d{2} ?\d{2} ?\d[0-9AB] ?\d{3} ?\d{3} ?\d{2}", nir.is_valid),
    national(r"(?i:[A-Z]{3} ?[A-Z]{3} ?\d{2}[A-EHLMPRST]\d{2} ?[A-Z]\d{3} ?[A-Z])", codicefiscale.is_valid),
    national(r"(?:19|20)?\d{6}[-+]\d{4}", personnummer.is_valid),
    national(r"(?:19|20)\d{10}", personnummer.is_valid, r"personnummer|personal identity|samordning"),
    national(r"\d{11}", pesel.is_valid, r"pesel"),
    national(r"756[. ]?\d{4}[. ]?\d{4}[. ]?\d{2}", ahv.is_valid),
    national(r"\d{3}\.\d{3}\.\d{3}-\d{2}", cpf.is_valid),
    national(r"\d{11}", cpf.is_valid, r"\bcpf\b"),
    national(r"\d{2}\.?\d{2}\.?\d{2}[- ]\d{3}[. ]\d{2}", nn.is_valid),
    national(r"\d{11}", nn.is_valid),
    national(r"\d{6}[-+A-FU-Y]\d{3}[0-9A-FHJ-NPR-Y]", hetu.is_valid),
    national(r"\d{6}[- ]?\d{4}", cpr.is_valid, r"\bcpr\b|danish (?:personal|national)"),
    national(r"\d{6}/\d{3,4}", rc.is_valid),
    national(r"\d{7}[A-W][ABHWTX]?", pps.is_valid, r"\bpps"),
    national(r"\d{6} ?\d{5}", fodselsnummer.is_valid, r"f[øo]dselsnummer|norwegian|\bfnr\b"),
    national(r"\d{4}[ -]?\d{4}[ -]?\d{4}", aadhaar.is_valid, r"aadhaar|\buid\b|india"),
    national(r"[1-8]\d{12}", cnp.is_valid, r"\bcnp\b|cod numeric"),
    national(r"\d{4} ?\d{6}", vnr.is_valid, r"versicherungs|\bsvnr|\bsv-n|sozialvers"),
    national(r"\d{2} ?\d{6} ?[A-Z] ?\d{2} ?\d", partial(_has_date, at=2), r"versicherungs|\brv|\bsv"),
    national(r"[3-6]\d{10}", ik.is_valid, r"isikukood|estonian|personal code"),
    national(r"[3-6]\d{10}", asmens.is_valid, r"asmens|lithuanian|personal code"),
    national(r"\d{6}-?\d{5}", pvn.is_valid, r"personas kod|latvian|personal code"),
    national(r"\d{10}", egn.is_valid, r"\begn\b|bulgarian|единен"),
    national(r"\d{6} ?\d{4} ?\d{3}", south_african.is_valid, r"south africa\w*|\bid\b"),
    national(r"\d{11}", tckimlik.is_valid, r"kimlik|turkish"),
    national(r"\d{11}", oib.is_valid, r"\boib\b|croatian"),
    national(r"\d{11}", amka.is_valid, r"\bamka\b|αμκα|greek"),
    national(r"\d{6}-?\d{4}", kennitala.is_valid, r"kennitala|icelandic"),
    national(r"\d{6}-\d{7}", rrn.is_valid),
    national(r"\d{17}[0-9X]", ric.is_valid),
    national(r"[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z0-9]\d", curp.is_valid),
    national(r"\d{1,2}\.?\d{3}\.?\d{3}-[0-9Kk]", rut.is_valid, r"\brut\b|\brun\b|chile"),
    national(r"\d{2}-?\d{8}-?\d", cuit.is_valid, r"\bcui[tl]\b"),
    national(r"\d{3}[ -]?\d{3}[ -]?\d{4}", nhs.is_valid, r"\bnhs\b"),
    national(r"\d{5}[ -]?\d{4}|\d{8}-\d", israeli.is_valid, r"teudat|israeli|זהות"),
    national(r"\d{6}-?\d{2}-?\d{4}", nric.is_valid, r"\bnric\b|mykad|malaysian"),
    national(r"\d{5}-?\d{7}-?\d", cnic.is_valid, r"\bcnic\b|pakistan"),
    national(r"\d-?\d{4}-?\d{5}-?\d{2}-?\d", thai.is_valid, r"\bthai|บัตรประชาชน"),
    national(r"\d{13}", emso.is_valid, r"\bemšo\b|\bemso\b|\bjmbg\b|матични|slovenian|serbian"),
    national(r"\d{10}", ci.is_valid, r"c[eé]dula|ecuador"),
    national(r"\d{3}-?\d{7}-?\d", cedula.is_valid, r"c[eé]dula|dominican"),
    national(r"\d{8}-?[0-9A-Z]?", peruvian.is_valid, r"\bdni\b|\bcui\b|peru"),
    national(r"\d{1,2}\.\d{3}\.\d{3}", argentine.is_valid, r"\bdni\b|\bd\.n\.i\b|documento"),
    national(r"\d{3} ?\d{3} ?\d{3}", nif.is_valid, r"\bnif\b|\bn\.i\.f\b"),
)
VAT_COUNTRIES = "AT ?U|BE|BG|CY|CZ|DE|DK|EE|EL|ES|FI|FR|GB|HR|HU|IE|IT|LT|LU|LV|MT|NL|PL|PT|RO|SE|SI|SK|XI"
TAX_FORMS = (
    tax(rf"(?:{VAT_COUNTRIES}) ?[0-9A-Z](?:[ .-]?[0-9A-Z]){{6,11}}", _is_vat_number),
    tax(r"\d{2} ?\d{3} ?\d{3} ?\d{3}", idnr.is_valid, r"steuer|identifikationsnummer|\bid-?n(?:r|ummer)|\btin\b|\btax"),
    tax(r"NO ?\d{3} ?\d{3} ?\d{3} ?MVA", mva.is_valid),
    tax(r"\d{3} ?\d{4} ?\d{2}|\d{9}", british_vat.is_valid, r"\bvat\b"),
    tax(r"CHE[- ]?\d{3}\.?\d{3}\.?\d{3}", uid.is_valid),
    tax(
        r"\d{2}-\d{7}",
        ein.is_valid,
        TAXES,
    ),
    tax(r"\d{3}-?\d{3}-?\d{2}-?\d{2}|\d{3}-\d{2}-\d{2}-\d{3}", nip.is_valid, r"\bnip\b"),
    tax(r"[A-HJNP-SUVW]-?\d{7}[0-9A-J]", cif.is_valid),
    tax(r"\d{3} ?\d{3} ?\d{3}", nif.is_valid, r"\bnif\b|contribuinte|portug"),
    tax(r"\d{5} ?\d{5}", utr.is_valid, r"\butr\b|unique taxpayer"),
    tax(r"\d{2}\.?\d{3}\.?\d{3}/?\d{4}-?\d{2}", cnpj.is_valid, r"\bcnpj\b"),
    tax(r"\d{3}[ -]?\d{3}[ -]?\d{3}", tfn.is_valid, r"\btfn\b|tax file"),
    tax(r"\d{2,3}[ -]?\d{3}[ -]?\d{3}", ird.is_valid, r"\bird\b|inland revenue"),
    tax(r"[A-ZÑ&]{3,4}[ -]?\d{6}[ -]?[A-Z0-9]{3}", rfc.is_valid, r"\brfc\b|mexican|factura"),
    tax(r"\d{3}\.?\d{3}\.?\d{3}-?\d", nit.is_valid, r"\bnit\b|colombia"),
    tax(r"\d{11}", ruc.is_valid, r"\bruc\b"),
    tax(r"[VEJG]-?\d{8}-?\d", rif.is_valid, r"\brif\b|venezuela"),
    tax(r"\d{10}(?:\d{2})?", inn.is_valid, r"\binn\b|\bинн\b"),
    tax(r"\d{10}", rntrc.is_valid, r"ukrainian|ukraine"),
    tax(r"\d{2}\.\d{3}\.\d{3}\.\d-\d{3}\.\d{3}", npwp.is_valid, r"\bnpwp\b"),
    tax(r"\d{11}", luhn.is_valid, r"partita iva|\bp\.iva|\bp\. iva|\bp iva|\bpiva"),
)
START = re.compile(
    r"(?<![\w.,/-])(?=\d|(?:[A-Za-z]{3} )?[A-Za-z]{1,6}+[- ]?\d)"
    r"(?=[A-Za-z .-]{0,16}+(?:\d[ .\-/+A-Za-z]{0,3}+){6})"
)
"""Where a number may begin: at a digit, or at letters before one, if there are as many digits as all forms have."""
PAN = re.compile(r"\b[A-Z]{5}\d{4}[A-Z]\b")
PAN_WORDS = ContextPattern.of(r"\bpan\b|permanent account|india")
"""The Indian tax number has fewer digits in sequence than all other forms."""
FORMS = (*TAX_FORMS, *NATIONAL_FORMS)
"""In the order in which they win."""
UNTOLD = [place for place, form in enumerate(FORMS) if form.words is None]
WITHOUT_WORDS = re.compile("|".join(FORMS[place].pattern.pattern for place in UNTOLD))
"""What one of the forms matches that need no words: at most places, none does."""
WORD_PARTS = PartsOfWords.of({place: form.words.parts for place, form in enumerate(FORMS) if form.words})


def find_identity_numbers(text: str) -> Iterator[Span]:
    """Yield the tax numbers and the national identity numbers of a text."""
    lowered = text.lower()
    for short in PAN.finditer(text) if PAN_WORDS.may_be_in(lowered) else ():
        if PAN_WORDS.stand_before(text, short.start(), CONTEXT_REACH) and pan.is_valid(short[0]):
            yield Span("tax_id", *short.span())
    starts = [start.start() for start in START.finditer(text)]
    if not starts:
        return
    untold = [start for start in starts if WITHOUT_WORDS.match(text, start)]
    for place in sorted([*WORD_PARTS.found_in(lowered), *(UNTOLD if untold else ())]):
        form = FORMS[place]
        for start in starts if form.words else untold:
            found = form.pattern.match(text, start)
            if (
                found
                and (form.words is None or form.words.stand_before(text, start, CONTEXT_REACH))
                and form.is_valid(UNCHECKED.sub("", found[0]))
                and (form.words or not names_another_number(text, start))
            ):
                yield Span(form.kind, *found.span())
