"""The tables of docs/reference/templates.md: each rule on the corpus, and real documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

BEGIN, END = "<!-- bench-rules -->\n", "<!-- /bench-rules -->\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """One rule on the corpus: faults planted for it, how many it caught, documents it accused.

    `wrong` counts documents on which it was red and that have no fault of its kind, out of
    `others` that have none.
    """

    template: str
    rule: str
    planted: int
    caught: int
    wrong: int
    others: int


def rendered(tallies: Iterable[Tally]) -> str:
    """Return the table in Markdown, with a line of sums."""
    rows = list(tallies)
    lines = [
        "| template | rule | planted | caught (true positives) | red without a fault (false) |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {r.template} | `{r.rule}` | {r.planted} | {r.caught} | {r.wrong} of {r.others} |"
        for r in rows
    ]
    planted, caught = sum(r.planted for r in rows), sum(r.caught for r in rows)
    wrong, others = sum(r.wrong for r in rows), sum(r.others for r in rows)
    lines.append(f"| all | | {planted} | {caught} | {wrong} of {others} |")
    return "\n".join(lines) + "\n"


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
