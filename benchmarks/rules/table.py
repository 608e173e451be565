"""The tables of docs/reference/templates.md: what each rule caught, and real documents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

BEGIN, END = "<!-- bench-rules -->\n", "<!-- /bench-rules -->\n"
_ROW = re.compile(r"^\| ([\w-]+) \| `([\w.-]+)` \| ([\w, -]*) \| (\d+) \| (\d+) \|$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """One rule of a template: faults planted for it in each format, and how many it caught."""

    template: str
    rule: str
    formats: Mapping[str, int]
    caught: int

    @property
    def planted(self) -> int:
        return sum(self.formats.values())


def tallied(cases: Iterable[tuple[str, str, str, bool]]) -> list[Tally]:
    """Return the tallies of template, rule, format and whether it was caught, by template."""
    ordered = sorted(cases, key=lambda case: case[0])
    order = list(dict.fromkeys(case[:2] for case in ordered))
    ordered.sort(key=lambda case: order.index(case[:2]))
    found = []
    for (template, rule), group in groupby(ordered, key=lambda case: case[:2]):
        formats: dict[str, int] = {}
        caught = 0
        for _, _, format_, is_caught in group:
            formats[format_] = formats.get(format_, 0) + 1
            caught += is_caught
        found.append(Tally(template=template, rule=rule, formats=formats, caught=caught))
    return found


def rendered(tallies: Iterable[Tally], without: Iterable[str] = ()) -> str:
    """Return the table in Markdown, with a line of sums, and the templates that have none."""
    rows = list(tallies)
    lines = [
        "| template | rule | planted, by format | planted | caught |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        formats = ", ".join(f"{name} {number}" for name, number in row.formats.items())
        lines.append(
            f"| {row.template} | `{row.rule}` | {formats} | {row.planted} | {row.caught} |"
        )
    planted, caught = sum(r.planted for r in rows), sum(r.caught for r in rows)
    lines.append(f"| all | | | {planted} | {caught} |")
    if names := ", ".join(f"`{name}`" for name in without):
        lines += ["", f"Templates for which nothing is planted here: {names}."]
    return "\n".join(lines) + "\n"


def read_tallies(page: str) -> list[Tally]:
    """Return what a page's table says."""
    _, _, rest = page.partition(BEGIN)
    return [
        Tally(
            template=found[1],
            rule=found[2],
            formats={name: int(n) for name, n in re.findall(r"([\w-]+) (\d+)", found[3])},
            caught=int(found[5]),
        )
        for found in _ROW.finditer(rest.partition(END)[0])
    ]


def put(page: str, table: str, name: str = "bench-rules") -> str:
    """Return the page with the table between its marks; raises ValueError where they are gone."""
    first, last = f"<!-- {name} -->\n", f"<!-- /{name} -->\n"
    before, begin, rest = page.partition(first)
    _, end, after = rest.partition(last)
    if not begin or not end:
        raise ValueError(f"the page has no {first.strip()} ... {last.strip()}")
    return f"{before}{begin}\n{table}\n{end}{after}"


def real_documents(
    red: Mapping[str, Iterable[str]], passed: Mapping[str, tuple[bool, bool]]
) -> str:
    """Return the table of documents by strangers: gate at A and B, and the rules that are red."""
    lines = ["| document | A | B | red |", "|---|---|---|---|"]
    for document, rules in red.items():
        at_a, at_b = ("passed" if gate else "failed" for gate in passed[document])
        shown = ", ".join(f"`{rule}`" for rule in rules) or "none"
        lines.append(f"| {document} | {at_a} | {at_b} | {shown} |")
    return "\n".join(lines) + "\n"
