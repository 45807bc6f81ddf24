"""Style sheets are formatted; no line of theirs or of a template is too long. `make format` writes, `make lint` checks.

Templates are formatted by djangofmt, which cannot break a long tag or text; cssbeautifier has no check of its own.
"""

import sys
from pathlib import Path

import cssbeautifier

ROOT = Path(__file__).parent.parent
MAX_CHARACTERS = 160


def main() -> None:
    """Format all style sheets; with --check, exit with a list of what `make format` would change or cannot help."""
    faults = [_overlong_line(file) for folder in ("templates", "static/css") for file in _files(folder)]
    for file in _files("static/css"):
        text = file.read_text()
        if (formatted := _formatted(text)) == text:
            continue
        if "--check" in sys.argv:
            faults.append(f"{file.relative_to(ROOT)} is not formatted. Run `make format`.")
        else:
            file.write_text(formatted)
    sys.exit("\n".join(filter(None, faults)) or None)


def _files(folder: str) -> list[Path]:
    return sorted(file for file in (ROOT / folder).rglob("*") if file.suffix in {".css", ".html", ".txt"})


def _formatted(text: str) -> str:
    options = cssbeautifier.default_options()
    options.indent_size, options.newline_between_rules, options.end_with_newline = 2, False, True
    options.space_around_combinator = True
    return str(cssbeautifier.beautify(text, options))


def _overlong_line(file: Path) -> str:
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if len(line) > MAX_CHARACTERS:
            return f"{file.relative_to(ROOT)}:{number} has {len(line)} characters; {MAX_CHARACTERS} are allowed."
    return ""


if __name__ == "__main__":
    main()
