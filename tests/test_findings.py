"""Every finding of the reviews of November 2026 has a test that names it by `@pytest.mark.finding`; E is of the pages.

`python -m tests.test_findings` prints which tests those are.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent

FINDINGS = {
    "1": "an admin of one team put agents into another, and wrote its files",
    "1k": "a key gained the teams that its agent joined",
    "1w": "rights were tried with nobody who is admin here and viewer there",
    "2a": "the head of a request had no limit",
    "2b": "a body was written to the disk before anything looked at it",
    "2c": "half-sent heads held connections without end",
    "3a": "embedding one long text took a gigabyte",
    "3b": "one key's costly requests made everybody wait",
    "3c": "an assembly of large turns took 13 s of CPU time and 14 MB of records",
    "3q": "there was no quota and no rate limit",
    "4a": "text that agents merely saw could pose as a section",
    "4b": "text that agents merely saw was in the system message",
    "4c": "an agent's key deleted what people wrote in the team",
    "5.1": "a text cost each of its readers 23 s of CPU time",
    "5.1b": "comparing and previewing long texts took more than 10 s of CPU time",
    "5.2a": "limits of sign-in were each process's own, and forgotten at a restart",
    "5.2b": "anybody could lock out anybody else",
    "5.2c": "addresses behind a proxy were one, and those that clients claimed were believed",
    "5.2d": "a TOTP code worked twice",
    "5.3": "second factors lay in the clear",
    "5.4": "an admin of one team deleted an agent that another team shares",
    "5.5a": "planning an import of 19,000 owners took 53 s of CPU time",
    "5.5b": "a small archive became 190 MB of logs, and searching them 7.5 s of CPU time",
    "5.6": "texts stood in PostgreSQL's log",
    "6.1": "prepared downloads and import plans were not checked again when fetched",
    "6.2": "sessions outlived being switched off, and nobody could list and end theirs",
    "6.3": "browsers and proxies could store private pages",
    "6.4": "every 304 of a static file left a traceback",
    "6.5": "some forms of formulas passed into CSV files",
    "6.6": "webhooks inherited the networks of external sources",
    "6.7": "log lines named webhooks by their labels",
    "6.8a": "keys never expired, and admin keys were on no page",
    "6.8b": "team admins learnt which usernames exist",
    "6.8c": "the last admin of a team could demote themselves",
    "6.9": "other users of the machine could read the supervisor's log",
    "E1": "a preview by a person counted as a context by agents",
    "E2": "texts with the marker lines of a merge conflict could be published",
    "E3": "tables of the what-if and of a context were wider than their sheets, and hid their last column",
    "E4": "a number of days that was typed was answered Saved, and not saved",
    "E5": "a shorter retention deleted contexts without a confirmation",
    "E6": "the size of a daily log was compared with a limit that seven days share",
    "E7": "reloading the page of a new key, or of a new account, made a second one",
    "E8": "members, webhooks and suggestions were removed by one click without a question",
    "E9": "links of viewers led to the editor, which refused them",
    "E10": "every 304 of a compressed static file was an error in the log",
    "E11": "on phones the line being typed was behind the bar below it",
    "E12": "the formatted view jumped into its middle, did not follow the text, and could not be closed",
    "E13": "the page of a draft's changes had no way back to the draft",
    "E14": "a restored text counted as a change, and of two changes of a memory one was named",
    "E15": "a bar of the trends counted other contexts than its link listed, and excluded files not at all",
    "E16": "a rule in force was compared with itself, so that testing it found no change",
    "E17": "saving the form of a rule changed the layout of its whole text",
    "E18": "an accepted suggestion promised a way to apply it that was not there",
    "E19": "the page of a conflict spoke of the size of the old draft",
    "E20": "people who wrote nothing were told that somebody published while they were writing",
    "E21": "a search by meaning offered an order that had no effect",
    "E22": "leaving the form of a memory lost what was typed without a question",
    "E23": "alerts of several profiles had the same title, and an acknowledgement could not be undone",
    "E24": "without a network, the button to publish led to the error page of the browser",
    "E25": "the same text had different numbers of tokens on two pages",
    "E26": "comparing with a draft that is not there was an error",
    "E27": "headings in texts made second level-1 headings on pages",
    "E28": "the list of daily logs showed Markdown signs",
    "E29": "two contexts could not be told apart on the page that compares them",
    "E30": "an action could not be removed from the form of a rule",
}


def test_every_finding_has_a_test() -> None:
    marked = find_marked_tests()
    assert marked.keys() == FINDINGS.keys()


def find_marked_tests() -> dict[str, list[str]]:
    """Return by finding the tests that are marked with it, as `path::name`."""
    marked = defaultdict(list)
    for file in sorted(TESTS.rglob("test_*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        whole = [finding for node in tree.body for finding in _module_findings(node)]
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name.lower().startswith("test"):
                own = [finding for decorator in node.decorator_list for finding in _findings_in(decorator)]
                for finding in {*own, *(whole if isinstance(node, ast.FunctionDef) else ())}:
                    marked[finding].append(f"{file.relative_to(TESTS.parent)}::{node.name}")
    return dict(marked)


def _module_findings(node: ast.stmt) -> Iterator[str]:
    """Yield the findings that `pytestmark = …` at the top of a module names."""
    if isinstance(node, ast.Assign) and any(
        isinstance(name, ast.Name) and name.id == "pytestmark" for name in node.targets
    ):
        yield from _findings_in(node.value)


def _findings_in(node: ast.expr) -> Iterator[str]:
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "finding":
            yield from (str(value.value) for value in call.args if isinstance(value, ast.Constant))


if __name__ == "__main__":
    found = find_marked_tests()
    for number, sentence in FINDINGS.items():
        tests = found.get(number, [])
        print(
            f"| {number} | {sentence} | {tests[0] if tests else 'none'}{f' (+{len(tests) - 1})' if tests[1:] else ''} |"
        )
