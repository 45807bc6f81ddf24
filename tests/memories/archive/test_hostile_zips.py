"""Zips that somebody made to do harm, or that other systems make: each is refused with a sentence, or read."""

import struct
import zipfile
from io import BytesIO
from typing import Any
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZipFile, ZipInfo

import pytest

from memories.archive import contents as limits
from memories.archive.contents import MAX_ENTRIES
from memories.archive.zip_file import read_zip
from memories.imports.base import ImportRefused, UnreadableText
from tests.archives import packed

KNOWN = ("agents", "teams")
NAME = "agents/ada/IDENTITY.md"


def zip_with(*entries: tuple[ZipInfo, bytes]) -> bytes:
    file = BytesIO()
    with ZipFile(file, "w") as archive:
        for info, data in entries:
            archive.writestr(info, data)
    return file.getvalue()


def linked() -> bytes:
    info = ZipInfo(NAME)
    info.external_attr = 0o120777 << 16
    return zip_with((info, b"/etc/passwd"))


def encrypted() -> bytes:
    data = bytearray(packed({NAME: "x"}))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + offset] |= 1
    return bytes(data)


def doubled() -> bytes:
    with pytest.warns(UserWarning, match="Duplicate"):
        return zip_with((ZipInfo(NAME), b"one"), (ZipInfo(NAME), b"two"))


def otherwise_packed() -> bytes:
    info = ZipInfo(NAME)
    info.compress_type = ZIP_BZIP2
    return zip_with((info, b"x"))


def many() -> bytes:
    return packed({f"agents/a{number}/IDENTITY.md": "" for number in range(MAX_ENTRIES + 1)})


def hundred_thousand() -> bytes:
    """With a list of 100,000 entries, and an end that says there is one."""
    entry = packed({NAME: "x"})
    begin, end = entry.index(b"PK\x01\x02"), entry.rindex(b"PK\x05\x06")
    table = entry[begin:end] * 100_000
    last = bytearray(entry[end:])
    struct.pack_into("<I", last, 12, len(table))
    return entry[:begin] + table + bytes(last)


def cut() -> bytes:
    return packed({NAME: "x" * 1_000})[:-30]


REFUSED: dict[str, tuple[Any, str]] = {
    "nothing": (lambda: b"", "This file is not a valid zip. Create it again and choose it again."),
    "no zip": (lambda: b"hello" * 100, "This file is not a valid zip. Create it again and choose it again."),
    "cut": (cut, "This file is not a valid zip. Create it again and choose it again."),
    "leads out": (lambda: packed({"agents/../../x.md": "x"}), "leads out of the archive"),
    "leads out, the other way": (lambda: packed({"agents\\..\\..\\x.md": "x"}), "leads out of the archive"),
    "from the root": (lambda: packed({"/agents/ada/IDENTITY.md": "x"}), "leads out of the archive"),
    "a drive": (lambda: packed({"C:/agents/ada/IDENTITY.md": "x"}), "leads out of the archive"),
    "line break in a name": (lambda: packed({"agents/ada/\n.md": "x"}), "cannot be the name"),
    "empty part": (lambda: packed({"agents//IDENTITY.md": "x"}), "cannot be the name"),
    "long name": (lambda: packed({f"agents/{'x' * 800}/IDENTITY.md": "x"}), "cannot be the name"),
    "link": (linked, "is a link"),
    "password": (encrypted, "protected by a password"),
    "twice": (doubled, "the same name"),
    "twice in capitals": (
        lambda: packed({NAME: "x", NAME.lower(): "y"}),
        "” is in the archive twice. Remove one of them.",
    ),
    "another method": (otherwise_packed, "not known here"),
    "too many": (many, "more than 20,000 files"),
    "far too many": (hundred_thousand, "more than 20,000 files"),
}


@pytest.mark.parametrize(("make", "message"), REFUSED.values(), ids=REFUSED)
def test_it_is_refused_with_a_sentence(make: Any, message: str) -> None:
    with pytest.raises(ImportRefused, match=message):
        read_zip(make(), KNOWN)


def test_a_bomb_is_refused_before_it_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    file = BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for number in range(5):
            with archive.open(f"agents/a{number}/IDENTITY.md", "w") as packing:
                packing.write(bytes(50_000_000))
    assert len(file.getvalue()) < 1_000_000
    monkeypatch.setattr(zipfile.ZipFile, "open", None)  # nothing may be unpacked
    with pytest.raises(ImportRefused, match="larger than 200 MB"):
        read_zip(file.getvalue(), KNOWN)


def test_an_entry_that_is_larger_than_it_says_is_damaged() -> None:
    file = BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        archive.writestr(NAME, "x" * 100_000)
    data = bytearray(file.getvalue())
    for mark, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        struct.pack_into("<I", data, data.index(mark) + offset, 10)
    with pytest.raises(ImportRefused, match="is damaged"):
        read_zip(bytes(data), KNOWN).text(NAME)


def test_flipped_bits_are_told() -> None:
    data = bytearray(packed({NAME: "hello hello hello"}))
    data[data.index(b"hello")] ^= 0xFF
    with pytest.raises(ImportRefused, match="is damaged"):
        read_zip(bytes(data), KNOWN).text(NAME)


def test_a_text_in_another_encoding_is_told_with_its_line() -> None:
    contents = read_zip(packed({NAME: "one\nÜber".encode("utf-16")}), KNOWN)
    with pytest.raises(UnreadableText, match="is not UTF-8"):
        contents.text(NAME)


@pytest.mark.parametrize(
    "names",
    [
        [NAME],
        [f"dossier-main/{NAME}", "dossier-main/README.md"],
        [f"a/b/{NAME}"],
        [NAME, f"__MACOSX/{NAME}", "agents/.DS_Store"],
        ["agents\\ada\\IDENTITY.md"],
        [f"./{NAME}"],
    ],
    ids=["plain", "GitHub", "wrapped twice", "macOS", "Windows", "dot"],
)
def test_what_other_systems_put_around_it_does_not_matter(names: list[str]) -> None:
    contents = read_zip(packed(dict.fromkeys(names, "x")), KNOWN)
    assert contents.text(NAME) == "x"
    assert not any("MACOSX" in name or "DS_Store" in name for name in contents.names)


def test_a_zip_with_a_comment_at_its_end_is_read() -> None:
    file = BytesIO(packed({NAME: "x"}))
    with ZipFile(file, "a") as archive:
        archive.comment = b"made by hand"
    assert read_zip(file.getvalue(), KNOWN).text(NAME) == "x"


def test_only_so_many_folders_around_it_are_looked_through() -> None:
    deep = f"{'a/' * (limits.MAX_WRAPPER_FOLDERS + 1)}{NAME}"
    assert NAME not in read_zip(packed({deep: "x"}), KNOWN).names
