"""Texts of YAML as people write them, of which a line or two may have been spoilt."""

from __future__ import annotations

from hypothesis import strategies as st

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
