"""The quick reader gives what the parser gives, or leaves the text to it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_reflex.criteria.document import parse_events
from pytest_reflex.criteria.faults import Faults
from pytest_reflex.criteria.nodes import Items, Table
from pytest_reflex.criteria.plain_lines import read_plain_lines
from pytest_reflex.errors import CriteriaError

KEYS = st.sampled_from(["id", "a", "k-1", "x_y", "no", "search", "check", "B"])
ODD_KEYS = st.sampled_from(["true", "null", "<<", "017", "ä", "a.b", '"q"', "? x", "- - a"])
SCALARS = st.sampled_from(
    [
        "word",
        "two words",
        "a.b-c",
        "017",
        "1.50",
        "true",
        "~",
        "null",
        "no",
        '"quoted: # x"',
        "'single'",
        '""',
        "''",
        "x:y",
        "x#y",
        "[a, b]",
        "[a, 'b', \"c\", 1, ~]",
        "{a: 1, b: 'x'}",
        "naïve ünïcode",
        "\u00a0x",
        "= x",
        "a, b] }",
        "x {y}",
        "GET /courses/{id}",
    ]
)
ODD_SCALARS = st.sampled_from(
    [
        "-3",
        ".nan",
        "1e999",
        "'it''s'",
        '"\\d"',
        '"',
        "'",
        "x: y",
        "x:",
        "x #y",
        "x ",
        " x",
        "-",
        "- x",
        "?x",
        "? x",
        "*x",
        "&x y",
        "!x y",
        "|",
        ">",
        "%x",
        "@x",
        "{id}",
        "[]",
        "[a,b]",
        "[a, [b]]",
        "[a: b]",
        "[a , b]",
        "{a: 1, a: 2}",
        "{a: b: c}",
        "{a: [b]}",
        "{}",
        "# comment",
        "a\u2028b",
        "a\x85b",
        "a\tb",
        "...",
        "---",
    ]
)
ODD_LINES = st.sampled_from(
    ["", " ", "# c", "    # c", "---", "...", "x", "  x", "- x", "k:", "\t"]
)


@st.composite
def blocks(draw: st.DrawFn, indent: int = 0, depth: int = 0) -> list[str]:
    """Return the lines of a block mapping in plain style."""
    lines = []
    for key in draw(st.lists(KEYS, unique=True, min_size=1, max_size=4)):
        kind = draw(st.sampled_from("ssssnmld" if depth < 3 else "sn"))
        start = " " * indent + key + ":"
        if kind == "s":
            lines.append(f"{start} {draw(SCALARS)}")
            continue
        lines.append(start)
        if kind == "m":
            lines += draw(blocks(indent + draw(st.integers(1, 4)), depth + 1))
        elif kind in "ld":
            lines += draw(lists(indent + (0 if kind == "d" else 2), depth + 1))
    return lines


@st.composite
def lists(draw: st.DrawFn, indent: int, depth: int) -> list[str]:
    """Return the lines of a block list of scalars and mappings."""
    lines = []
    for _ in range(draw(st.integers(1, 3))):
        if draw(st.booleans()):
            lines.append(" " * indent + "- " + draw(SCALARS))
            continue
        first, *rest = draw(blocks(indent + 2, depth))
        lines += [" " * indent + "- " + first.lstrip(), *rest]
    return lines


def spoilt(line: str) -> st.SearchStrategy[str]:
    blanks = line[: len(line) - len(line.lstrip())]
    return (
        ODD_SCALARS.map(lambda odd: f"{line.partition(':')[0]}: {odd}")
        | ODD_KEYS.map(lambda odd: f"{blanks}{odd}: 1")
        | ODD_LINES.map(lambda odd: f"{line}\n{odd}")
        | st.sampled_from([f" {line}", f"{line} # c", line[1:]])
    )


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Return a plain text in which a line or two may have been spoilt."""
    lines = draw(blocks())
    for _ in range(draw(st.sampled_from([0, 0, 1, 1, 2]))):
        at = draw(st.integers(0, len(lines) - 1))
        lines[at] = draw(spoilt(lines[at]))
    return "\n".join(lines)


def placed(node: Any) -> Any:
    """Return a value with the position of everything in it."""
    if isinstance(node, Table):
        return (
            node.spot,
            [(key, node.at_key(key), node.at(key), placed(node[key])) for key in node],
        )
    if isinstance(node, Items):
        return node.spot, [(node.at(n), placed(item)) for n, item in enumerate(node)]
    return type(node), getattr(node, "text", node)


def by_parser(text: str) -> Any:
    faults = Faults("k.yaml", text)
    try:
        return None if (root := parse_events(text, faults)) is None or faults.found else root
    except CriteriaError:
        return None


@settings(deadline=None, max_examples=600)
@given(texts())
@example("a:\n- b: 1\n- c\nd:")
@example("a:\n  - b:\n    - c: [x, y]\n      d:\n    e: 1")
@example("a: 1\nb:\n  c: 2\n  d:\n    e: 3\n  f: 4\ng: 5")
@example("a: x\n  b: y")
@example("a: x\n  more")
@example("a: 'x\n  more'")
@example("- a: 1")
@example("a:\n  - x\n  b: 1")
@example("a:\n- x\nb: 1\n- y")
@example("a:\n\n# c\n  # c\n  b: 1")
@example("a:\n    b: 1\n  c: 2")
def test_it_gives_what_the_parser_gives_or_nothing(text: str) -> None:
    quick = read_plain_lines(text)
    if quick is not None:
        assert placed(quick) == placed(by_parser(text))


@pytest.mark.parametrize(
    "text",
    [
        "name: x\nrules:\n  - id: a.b.c\n    weight: 1.50\n    check:\n      type: content\n",
        "rules:\n- id: a.b.c\n  samples:\n    good:\n    - one\n    - two\n  severity: fail\n",
        "# c\n\nartifacts: [README.md, 'docs/*.md']\nphase: B\ncriteria: documentation\n",
        "check: {type: content, search: '^# ', negate: true}\nnothing:\n",
    ],
    ids=["rule", "indentless lists", "suite", "flow"],
)
def test_it_reads_what_people_write_most(text: str) -> None:
    quick = read_plain_lines(text)
    assert quick is not None
    assert placed(quick) == placed(by_parser(text))


@pytest.mark.parametrize(
    "text",
    ["a: |\n  x\n", 'a: "\\d"', "a: &x 1", "a: b # c", "a: b: c", "a: 1\na: 2", "- a", "a: .nan"],
)
def test_it_leaves_the_rest_to_the_parser(text: str) -> None:
    assert read_plain_lines(text) is None
