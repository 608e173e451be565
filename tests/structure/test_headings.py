"""Headings: required ones, their order, their levels, one title."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_reflex.errors import Place
from pytest_reflex.model.enums import Outcome
from tests.structure.judging import judge, problems

DOCUMENT = """\
# Tool

## Installation

Install it so:

```sh
pip install tool
```

## Empty

Usage Notes
-----------

### Options

Some.
"""

PASSING: list[dict[str, Any]] = [
    {"required": "Installation"},
    {"required": ["## installation", "usage  notes"], "order": True},
    {"required": "/^usage/"},
    {"required": "/pip install/", "leads": True},
    {"required": "/install it so/", "leads": True},
    {"required": "Usage notes", "filled": True},
    {"levels": True, "single_title": True, "min_count": 5},
]


@pytest.mark.parametrize("params", PASSING, ids=str)
def test_document_with_the_wanted_headings_passes(params: dict[str, Any]) -> None:
    assert judge(DOCUMENT, {"headings": params}).outcome is Outcome.PASS


FAILING: list[tuple[str, dict[str, Any]]] = [
    ("missing section: 'Licence'", {"required": ["Tool", "Licence"]}),
    ("missing section (pattern not found)", {"required": "/^notes/"}),
    ("missing or empty section: 'Empty'", {"required": "Empty", "filled": True}),
    (
        "the heading 'Installation' comes before 'Options'",
        {"required": ["Options", "Installation"], "order": True},
    ),
    ("5 headings, at least 6 are wanted", {"min_count": 6}),
]


@pytest.mark.parametrize(("message", "params"), FAILING, ids=[message for message, _ in FAILING])
def test_document_without_them_fails(message: str, params: dict[str, Any]) -> None:
    result = judge(DOCUMENT, {"headings": params})
    assert (result.outcome, result.message) == (Outcome.FAIL, message)
    assert result.pattern == ("^notes" if "pattern" in message else "")


OUTLINES = [
    ("## A\n", "there is no title: no heading of level 1", 1),
    ("text\n", "there is no title: no heading of level 1", 1),
    ("# T\n\n# U\n", "a second title 'U', the first is in line 1", 3),
    ("<h1>T</h1>\n\n# U\n", "a second title 'U', the first is in line 1", 3),
    ("# T\n\n### A\n", "the heading 'A' of level 3 follows one of level 1", 3),
]


@pytest.mark.parametrize(("text", "message", "line"), OUTLINES, ids=[text for text, *_ in OUTLINES])
def test_broken_outline_fails_at_its_line(text: str, message: str, line: int) -> None:
    result = judge(text, {"headings": {"single_title": True, "levels": True}})
    assert result.message == message
    assert result.location == Place("a.md", line, 0)


def test_title_in_html_is_a_title() -> None:
    text = "<p>\n<h1 align='center'>T</h1>\n</p>\n\n## A\n"
    assert judge(text, {"headings": {"single_title": True}}).outcome is Outcome.PASS


def test_heading_in_a_fence_or_comment_is_none() -> None:
    text = "```md\n# A\n```\n<!--\n<h1>B</h1>\n-->\n"
    assert judge(text, {"headings": {"single_title": True}}).outcome is Outcome.FAIL


def test_b027_runaway_pattern_is_an_error() -> None:
    text = "# " + "a" * 60 + "b\n"
    result = judge(text, {"headings": {"required": "/(a|aa)+$/"}})
    assert result.outcome in (Outcome.ERROR, Outcome.FAIL)


INSTALLED = "## Installation\n\n```sh\npip install tool\n```\n"
SHOWN = {
    "a session at the top": ">>> tool(1)\n2\n",
    "a call": "import tool\n\ntool(1)\n",
    "a command behind the one that installs": "$ pip install tool\n$ tool --help\n",
    "a long manifest with dependencies": "[project]\n" + "a = 1\n" * 12 + "dependencies = []\n",
}
USED: dict[str, Any] = {"headings": {"required": "/usage/", "filled": True, "used": True}}


@pytest.mark.parametrize("code", SHOWN.values(), ids=SHOWN)
@pytest.mark.parametrize("form", ["```\n{}```\n", "~~~py\n{}~~~\n", "<pre>\n{}</pre>\n"])
def test_code_that_installs_nothing_shows_a_use(code: str, form: str) -> None:
    text = f"# Tool\n\n{form.format(code)}\n{INSTALLED}"
    assert judge(text, USED).outcome is Outcome.PASS


NOT_SHOWN = {
    "installation alone": INSTALLED,
    "two ways to install": "```\nnpm i tool\nyarn add tool\n```\n",
    "a virtual environment first": "```sh\n$ python -m venv .venv\n$ . .venv/bin/activate\n```\n",
    "a dependency": '```json\n{"dependencies": {"tool": "^1.0"}}\n```\n',
    "a citation": "```bibtex\n@misc{tool}\n```\n",
    "code for contributors": "## Contributing\n\n```\nmake test\n```\n",
    "an empty block": "```\n```\n",
}


@pytest.mark.parametrize("text", NOT_SHOWN.values(), ids=NOT_SHOWN)
def test_code_that_shows_no_use_is_no_usage(text: str) -> None:
    result = judge(f"# Tool\n\n{text}", USED)
    assert result.message == "missing or empty section (pattern not found)"
    assert result.pattern == "usage"


@pytest.mark.parametrize(
    "link",
    [
        "[Usage](https://x.y)",
        "See the [notes on usage](docs/a.md).",
        "[more](https://x.y/docs/usage.html?a=1#b)",
        "<a href='docs/usage/'>here</a>",
    ],
)
def test_link_that_is_named_so_leads_there(link: str) -> None:
    asked = {"required": "/\\busage\\b/"}
    assert judge(link, {"headings": asked | {"linked": True}}).outcome is Outcome.PASS
    assert judge(link, {"headings": asked}).outcome is Outcome.FAIL


@pytest.mark.parametrize("link", ["[Usage](#usage)", "![usage](a.png)", "[x](https://usage.y/)"])
def test_link_that_leads_elsewhere_does_not_count(link: str) -> None:
    asked = {"required": "/\\busage\\b/", "linked": True}
    assert judge(link, {"headings": asked}).outcome is Outcome.FAIL


def test_pattern_that_is_missing_is_told_in_the_words_of_its_author() -> None:
    spec = {"headings": {"required": "/^(set ?up|install)/", "filled": True}}
    result = judge("# T\n", spec, expected="how to install it")
    assert result.message == "missing or empty section: how to install it"
    assert result.location == Place("a.md", 1, 0)


@pytest.mark.parametrize("name", ["a.rst", "a.adoc", "A.HTML", "notes.org"])
@pytest.mark.parametrize("params", [USED, {"links": True}, {"prose": {"min_words": 1}}], ids=str)
def test_other_markup_is_not_read_as_markdown(name: str, params: dict[str, Any]) -> None:
    result = judge("# Usage\n\nText.\n", params, name=name)
    assert result.outcome is Outcome.ERROR
    assert result.message.startswith(f"{name} is ")
    assert "this check reads Markdown" in result.message


WAYS_TO_INSTALL = {
    "a command": "Get it with `pip install tool`.",
    "a short command": "```sh\nnpm i tool\n```",
    "a command of a block without a language": "    go get example.org/tool",
    "a dependency": '```toml\n[dependencies]\ntool = "1"\n```',
    "a hook": "```yaml\n- repo: https://example.org/tool\n  rev: v1\n```",
    "a container": "```console\n$ docker run tool\n```",
    "a sentence": "It is installed from PyPI.",
    "where it is": "Tool is available on npm.",
}


@pytest.mark.parametrize("text", WAYS_TO_INSTALL.values(), ids=WAYS_TO_INSTALL)
def test_installation_is_told_in_several_ways(text: str) -> None:
    params = {"required": "/nothing called so/", "installed": True}
    assert judge(f"# Tool\n\n{text}\n", {"headings": params}).outcome is Outcome.PASS


NOT_INSTALLED = [
    "It adds code to get the rest.",
    "```python\nimport tool\n```",
    "It does not install anything.",
    "See the `install` option.",
]


@pytest.mark.parametrize("text", NOT_INSTALLED)
def test_text_that_does_not_say_how_to_install_is_none(text: str) -> None:
    params = {"required": "/nothing called so/", "installed": True}
    assert judge(f"# Tool\n\n{text}\n", {"headings": params}).outcome is Outcome.FAIL


DOCUMENTED = [
    "[Documentation](https://example.org)",
    "[here](https://tool.readthedocs.io/)",
    "Consult the [reference](https://docs.example.org/reference).",
    "[cookies](docs/cookies.md)",
    "Consult the [CLI reference](https://tool.example.org/cli).",
    "<https://acme.github.io/tool>",
    "https://acme.example.org",
    "For more information see: https://tool.example.org/",
    "<p><a href='https://example.org/getting-started'>go</a></p>",
]


@pytest.mark.parametrize("text", DOCUMENTED)
def test_link_to_documentation_stands_for_what_is_required(text: str) -> None:
    params = {"required": "/nothing called so/", "documented": True}
    assert judge(f"# Tool\n\n{text}\n", {"headings": params}).outcome is Outcome.PASS


NOT_DOCUMENTED = [
    "[the licence](LICENSE)",
    "[json](https://docs.python.org/3/library/json.html)",
    "[below](#documentation)",
    "![docs](https://img.example.org/docs.svg)",
    "It was written in the manner of https://example.org by several people.",
]


@pytest.mark.parametrize("text", NOT_DOCUMENTED)
def test_other_link_is_none_to_documentation(text: str) -> None:
    params = {"required": "/nothing called so/", "documented": True}
    assert judge(f"# Tool\n\n{text}\n", {"headings": params}).outcome is Outcome.FAIL


@pytest.mark.parametrize("heading", ["## Usage\n", "## Usage\n\n### Advanced\n", "Usage\n-----\n"])
def test_a_link_does_not_stand_for_a_section_that_is_there_and_empty(heading: str) -> None:
    params = {"required": ["/^usage/"], "filled": True, "documented": True}
    page = "# T\n\nSee the [documentation](https://t.example/docs/).\n\n"
    assert judge(page, {"headings": params}).outcome is Outcome.PASS
    assert judge(f"{page}{heading}", {"headings": params}).outcome is Outcome.FAIL
    assert judge(f"{page}## Usage\n\nCall it.\n", {"headings": params}).outcome is Outcome.PASS


TITLED = {"single_title": True, "front_matter": True}
# Text, and what is wrong with its titles: markdownlint's MD025 for two headings, but one heading
# beside the metadata of a page is what Docusaurus, VitePress and MkDocs show.
TITLES: dict[str, tuple[str, str]] = {
    "front matter": ("---\ntitle: T\n---\n\n## A\n", ""),
    "TOML": ("+++\ntitle = 'T'\n+++\n\n## A\n", ""),
    "both": ("---\ntitle: T\n---\n\n# A\n", ""),
    "a heading": ("---\ndate: 1\n---\n\n# A\n", ""),
    "two headings": ("# A\n\n# B\n", "a second title 'B', the first is in line 1"),
    "front matter and two headings": (
        "---\ntitle: T\n---\n\n# A\n\nx\n\n# B\n",
        "a second title 'B', the first is in line 5",
    ),
    "TOML and two headings": (
        "+++\ntitle = 'T'\n+++\n\n# A\n\n<h1>B</h1>\n",
        "a second title '', the first is in line 5",
    ),
    "an empty title": ("---\ntitle: ''\n---\n\n## A\n", "there is no title"),
    "a title that is no text": ("---\ntitle: [a]\n---\n\n## A\n", "there is no title"),
    "no title": ("## A\n", "there is no title"),
    "no front matter": ("text\n", "there is no title"),
}


@pytest.mark.parametrize(("text", "message"), TITLES.values(), ids=TITLES)
def test_a_title_in_the_front_matter_is_no_reason_for_two_headings(text: str, message: str) -> None:
    found = judge(text, {"headings": TITLED})
    assert found.outcome is (Outcome.FAIL if message else Outcome.PASS)
    assert found.message.startswith(message or "one title")


def test_front_matter_is_no_title_unless_it_is_said() -> None:
    text = TITLES["front matter"][0]
    assert judge(text, {"headings": {"single_title": True}}).outcome is Outcome.FAIL
    (problem,) = problems({"headings": {"levels": True, "front_matter": True}})
    assert "front_matter needs single_title: true" in problem.message
