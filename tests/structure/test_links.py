"""Links lead to files, headings and references that are there."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reflex.checks.structure.markdown import model
from pytest_reflex.checks.structure.markdown.links import slugs
from pytest_reflex.model.enums import Outcome
from tests.structure.judging import judge

GOOD = [
    "[a](https://example.org/x) <https://example.org> [m](mailto:a@b.c) [r](//cdn.x/y)",
    "[here](there.md) ![p](pic%20one.png) [part](there.md#x) [q](there.md?raw=1)",
    "[site](/from/the/root) [empty]() [top](#top)",
    "# A b, C!\n\n[up](#a-b-c)",
    "# A\n\n# A\n\n[second](#a-1)",
    "<a id='spot'></a>\n\n[to](#spot)",
    "# T {#own}\n\n[to](#own)",
    "# Größe\n\n[to](#größe)",
    "[a][b] [b][] [b]\n\n[b]: https://example.org",
    "`[a][b]` and x[0][1] and [^1][^2] and \\[a][b]",
    "[Page][tool.pages.Page] [`open`][tool.open] [shut][tool.Door.shut()]",
    "[ ] todo\n\n> [!NOTE]\n> text",
    '<img src="pic one.png"> <a href="https://x.y">z</a>',
    "<!-- [a](nowhere.md) <img src='nowhere.png'> -->",
    "```md\n[a](nowhere.md)\n```",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "there.md").write_text("# X\n")
    (tmp_path / "pic one.png").write_bytes(b"")
    return tmp_path


@pytest.mark.parametrize("text", GOOD)
def test_links_that_lead_somewhere_pass(text: str, folder: Path) -> None:
    assert judge(text, {"links": True}, base=folder).outcome is Outcome.PASS


BAD = [
    ("\n[a](nowhere.md)", "the link target 'nowhere.md' does not exist", 2),
    ("![a](no.png)", "the image 'no.png' does not exist", 1),
    ("text\n<p>\n<img width=1 src='no.png'>\n</p>", "the image 'no.png' does not exist", 3),
    ("[a](" + "x" * 5000 + ")", "the link target 'xxx", 1),
    ("[a](a%00b)", "the link target 'a\\x00b' does not exist", 1),
    ("# A\n\n[b](#b)", "the anchor #b leads to no heading", 3),
    ("a\n[text][label]", "the reference [label] is not defined", 2),
    ("[text][]", "the reference [text] is not defined", 1),
    ("[text][two.words and more]", "the reference [two.words and more] is not defined", 1),
    ("[text][1.2]", "the reference [1.2] is not", 1),
    ("![alt][pic]", "the reference [pic] is not defined", 1),
]


@pytest.mark.parametrize(("text", "message", "line"), BAD, ids=[message for _, message, _ in BAD])
def test_link_that_leads_nowhere_fails_at_its_line(
    text: str, message: str, line: int, folder: Path
) -> None:
    result = judge(text, {"links": True}, base=folder)
    assert result.message.startswith(message)
    assert result.location
    assert result.location.line == line


def test_number_of_links_counts_no_images() -> None:
    result = judge("![a](https://x.y/z.png) [b](https://x.y)", {"links": {"min_count": 2}})
    assert result.message == "1 links, at least 2 are wanted"
    assert result.outcome is Outcome.FAIL


def test_only_what_is_asked_for_is_looked_at() -> None:
    assert judge("[a](no.md) [b](#no)", {"links": {"references": True}}).outcome is Outcome.PASS


ANCHORED = {
    "combining marks stay": "## हिन्दी भाषा\n\n[x](#हिन्दी-भाषा)",
    "vowel signs and tones stay": "## ภาษาไทย ที่นี่\n\n[x](#ภาษาไทย-ที่นี่)",
    "a letter and its accent stay two": "## Cafe\u0301 noir\n\n[x](#cafe%CC%81-noir)",
    "the variation selector of an emoji stays": "## 🛠️ Development\n\n[x](#%EF%B8%8F-development)",
    "an emoji without one leaves a hyphen": "## 🎉 Party\n\n[x](#-party)",
    "an emoji in the middle leaves two": "## One ⚙️ two\n\n[x](#one-%EF%B8%8F-two)",
    "a blank before an image becomes a hyphen": "## Buy ![Icon](i.png)\n\n[x](#buy-)",
    "a blank after an image becomes a hyphen": "## ![Icon](i.png) Buy\n\n[x](#-buy)",
    "a blank before raw HTML becomes a hyphen": "## Buy <img src='i.png'>\n\n[x](#buy-)",
    "each dropped mark leaves its blanks": "## What / why & how\n\n[x](#what--why--how)",
    "code and links are words": "## The `run_all()` of [pip](https://x.y)\n\n[x](#the-run_all-of-pip)",
    "a heading in HTML": "<h2 align='center'>Hello <b>World</b></h2>\n\n[x](#hello-world)",
    "a heading in a quotation": "> ## Bee\n\n[x](#bee)",
    "attributes with blanks": "## Bee { #sec-b }\n\n[x](#sec-b)",
    "attributes with a class": "## Bee {.wide #sec-b}\n\n[x](#sec-b)",
    "attributes of kramdown": "## Bee\n{: #sec-b .wide}\n\n[x](#sec-b)",
    "an attribute called id": '## Bee {id="sec-b"}\n\n[x](#sec-b)',
    "a target above the heading": "(sec-b)=\n## Bee\n\n[x](#sec-b)",
    "the page itself": "# T\n\n[x](#readme)",
    "a mark that nobody can click": "# T\n\n[](#mark) and [](#another-mark)",
    "a mark above code": "# T\n\n[](#skip)\n```js\nf()\n```",
    "words of the page": "# T\n\n[x](#:~:text=T)",
    "a text that other files are put into": "--8<-- 'more.md'\n\n[x](#more)",
}


@pytest.mark.parametrize("text", ANCHORED.values(), ids=ANCHORED)
def test_anchor_that_the_forge_makes_is_known(text: str) -> None:
    assert judge(text, {"links": {"anchors": True}}).outcome is Outcome.PASS


DEAD = {
    "marks left out": ("## हिन्दी भाषा\n\n[x](#हनद-भष)", "हनद-भष"),
    "accent left out": ("## Cafe\u0301\n\n[x](#cafe)", "cafe"),
    "emoji kept": ("## 🎉 Party\n\n[x](#🎉-party)", "🎉-party"),
    "edge left out": ("## Buy ![Icon](i.png)\n\n[x](#buy)", "buy"),
    "one hyphen for two blanks": ("## What / why\n\n[x](#what-why)", "what-why"),
    "a mark and a link": ("# T\n\n[](#mark) [x](#mark)", "mark"),
    "a picture": ("# T\n\n[![](i.png)](#gone)", "gone"),
    "another id": ("## Bee { #sec-b }\n\n[x](#sec-c)", "sec-c"),
    "the words of an image": ("## ![Icon](i.png)\n\n[x](#icon)", "icon"),
}


@pytest.mark.parametrize(("text", "anchor"), DEAD.values(), ids=DEAD)
def test_anchor_that_the_forge_does_not_make_is_dead(text: str, anchor: str) -> None:
    result = judge(text, {"links": {"anchors": True}})
    assert result.message == f"the anchor #{anchor} leads to no heading"


HOSTILE = {
    "headings in HTML without an end": "<div>\n" + "<h1>" * 60_000 + "\n</div>\n\n[x](#y)",
    "blanks in a brace": "{" + " " * 90_000 + "x\n\n[x](#y)",
    "a long id in a brace": "{#" + "a" * 90_000 + "\n\n[x](#y)",
    "beginnings of what is put in": "{!" * 60_000 + "\n\n[x](#y)",
    "many ids in a brace": "{ " + "id=a " * 60_000 + "\n\n[x](#y)",
}


@pytest.mark.long
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_text_of_beginnings_without_an_end_is_judged(text: str) -> None:
    result = judge(text, {"links": {"anchors": True}})
    assert result.message == "the anchor #y leads to no heading"


def test_slugs_are_those_of_the_forge() -> None:
    document = model.parse("# A `b` C++\n\n## A_b-c (d)\n\n## A_b-c (d)\n\n## 🎉 Done\n")
    assert slugs(document) == {"a-b-c", "a_b-c-d", "a_b-c-d-1", "-done"}


SITES = {
    "an admonition": '!!! note "A"\n    b\n\n[text][other-page]',
    "an object": "::: pkg.mod\n\n[`f`][f]",
    "a block": "/// question\nHow?\n///\n\n[MkDocs][mkdocs]",
    "code of the project": "[`load`][pkg.load] and [`Loader.load`][pkg.Loader.load]",
    "hyphens that are one": '!!! note "A"\n    b\n\n## What / why\n\n[x](#what-why)',
    "a number after a line": '!!! note "A"\n    b\n\n## C\n\n## C\n\n[x](#c_1)',
    "a target of another page": "(here)=\n# T\n\n[x](#there)",
    "a directive": "```{note}\na\n```\n\n[x](#there)",
}


@pytest.mark.parametrize("text", SITES.values(), ids=SITES)
def test_what_a_generator_of_sites_resolves_is_left_to_it(text: str) -> None:
    params = {"links": {"anchors": True, "references": True}}
    assert judge(text, params).outcome is Outcome.PASS


@pytest.mark.parametrize("text", ["[text][other-page]", "[a][b] and [c][d]"])
@pytest.mark.parametrize("file", ["mkdocs.yml", "zensical.toml", "docs/conf.py"])
def test_file_of_a_generator_above_makes_pages_of_its_folder(
    text: str, file: str, tmp_path: Path
) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    params = {"links": {"references": True}}
    assert judge(text, params, base=folder).outcome is Outcome.FAIL
    (tmp_path / file).write_text("")
    other = tmp_path / "docs" / "more"
    other.mkdir()
    result = judge(text, params, base=other)
    assert result.outcome is Outcome.PASS
    assert "left to the generator of the site" in result.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[x](#gone)", "the anchor #gone leads to no heading"),
        ("[the site][the site]", "the reference [the site] is not defined"),
        ("[x][the other page]", "the reference [the other page] is not defined"),
    ],
)
def test_what_no_generator_resolves_is_still_found(text: str, message: str) -> None:
    params = {"links": {"anchors": True, "references": True}}
    assert judge(f"!!! note\n    a\n\n{text}", params).message == message


@pytest.mark.parametrize("file", ["mkdocs.yml", "mkdocs.yaml", "zensical.toml"])
@pytest.mark.parametrize("mark", ["", "!!! note\n    a\n\n"])
def test_text_that_is_put_below_each_page_may_define_any_reference(
    file: str, mark: str, tmp_path: Path
) -> None:
    text = f"{mark}Support for [PEP 517][] and [the build][]"
    for settings, outcome in (("plain", Outcome.FAIL), ("auto_append", Outcome.PASS)):
        folder = tmp_path / settings / "docs"
        folder.mkdir(parents=True)
        (folder.parent / file).write_text(f"{settings}:\n  - links.txt\n")
        assert judge(text, {"links": {"references": True}}, base=folder).outcome is outcome


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("## What / why\n\n[x](#what-why)", Outcome.PASS),
        ("## `A` & B\n\n[x](#a-b)", Outcome.PASS),
        ("## 🎉 Party\n\n[x](#party)", Outcome.PASS),
        ("## What / why\n\n[x](#whatwhy)", Outcome.FAIL),
    ],
)
@pytest.mark.parametrize("folder", ["docs", "website/guides"])
def test_anchor_of_other_generators_is_left_to_them_in_a_folder_of_documentation(
    text: str, outcome: Outcome, folder: str, tmp_path: Path
) -> None:
    params = {"links": {"anchors": True}}
    result = judge(text, params, base=tmp_path / folder)
    assert result.outcome is outcome
    assert ("left to the generator of the site: 1" in result.message) is (outcome is Outcome.PASS)
    assert judge(text, params, "README.md", base=tmp_path / folder).outcome is Outcome.FAIL
    assert judge(text, params, base=tmp_path / "src").outcome is Outcome.FAIL
