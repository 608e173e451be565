"""Faults of READMEs and guides, and those that other pages have like them."""

from __future__ import annotations

import re
from functools import partial

from benchmarks.rules.operators import Change, Operator, append
from benchmarks.rules.operators.sections import FENCE

BOTH = ("documentation", "guide")
PAGES = (*BOTH, "reference")
ALL = (*PAGES, "adr")
INSTALLATION = (
    r"install|set-?up|setting up|get(ting)? started|quick ?start|deploy|download|\bpipx?\b|"
    r"np[mx]\b|yarn|uv add|uvx|pnpm|docker|brew|conda|cargo|curl|clone|cdn|<script|require\(|import"
)
USAGE = r"\b(us(e|age|ing)|examples?|tutorial|guide|how to|started|quick ?start|work|first steps)"
LONG = (
    "When a person who has never seen this before comes to the page and wants to know what has "
    "to be done first and what may be left for later because nobody needs it on the first day and "
    "few on the second one then this sentence goes on and on without any stop at which a reader "
    "could take a breath and think about what was said at its beginning which was long ago by now."
)


def insert(addition: str, text: str) -> str | None:
    """Put a paragraph in front of the second heading that begins outside of a code block."""
    heads = [m.start() for m in re.finditer(r"^#+ ", FENCE.sub(_blank, text), re.MULTILINE)]
    return f"{text[: heads[1]]}{addition}\n\n{text[heads[1] :]}" if len(heads) > 1 else None


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match.group())


def without_fences(text: str) -> str:
    text = re.sub(r"<pre\b.*?</pre>", "", FENCE.sub("", text), flags=re.DOTALL)
    return re.sub(r"^(?: {4,}|\t)\S.*\n", "", text, flags=re.MULTILINE)


def long_sentences(text: str) -> str:
    """Add so many sentences of 34 words that the average is above what is asked for."""
    return append("\n\n".join([f"{LONG[:180]}."] * (20 + len(text) // 50)), text)


def first_lines(text: str) -> str | None:
    """Leave the title and one sentence: what it is, and nothing on how to get or use it."""
    return "# A thing\n\nThis thing turns tables into texts that people like to read.\n"


def without_lines(words: str, text: str) -> str | None:
    """Take out all lines, sections and blocks that speak of something."""
    pattern = re.compile(words, re.IGNORECASE)
    text = FENCE.sub(lambda m: "" if pattern.search(m.group()) else m.group(), text)
    return "".join(line for line in text.splitlines(True) if not pattern.search(line))


def without_links(text: str) -> str:
    text = re.sub(r"!?\[([^\]\[]*)\](\([^)]*\)|\[[^\]]*\])", r"\1", text)
    text = re.sub(r"!?\[([^\]\[]*)\](\([^)]*\)|\[[^\]]*\])", r"\1", text)
    text = re.sub(r"^\[[^\]]+\]:.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"https?://\S+|<a\b[^>]*>|<img\b[^>]*>|<source\b[^>]*>", "", text)
    return re.sub(r"<[\w.+-]+@[\w.-]+>", "", text)


def untag_fence(text: str) -> str | None:
    changed = re.sub(r"^```[\w+-]+[^\n]*$", "```", text, count=1, flags=re.MULTILINE)
    return changed if changed != text else None


def no_title(text: str) -> str | None:
    blanked = FENCE.sub(_blank, text)
    titles = [m.start() for m in re.finditer(r"^# ", blanked, re.MULTILINE)]
    if len(titles) != 1 or re.match(r"---\n.*?^title:.*?^---$", text, re.MULTILINE | re.DOTALL):
        return None
    return f"{text[: titles[0]]}#{text[titles[0] :]}"


def second_title(text: str) -> str | None:
    has_title = re.search(r"^# ", FENCE.sub(_blank, text), re.MULTILINE)
    return append("# Another title\n\nText.", text) if has_title else None


def no_opening(words: str, text: str) -> str | None:
    heads = [m.start() for m in re.finditer(r"^## ", FENCE.sub(_blank, text), re.MULTILINE)]
    return f"# A thing\n\n{words}\n\n## First\n\n### More\n\n{text[heads[0] :]}" if heads else None


def operators(
    templates: tuple[str, ...], rule: str, changes: dict[str, Change]
) -> tuple[Operator, ...]:
    return tuple(
        Operator(templates=templates, rule=rule, formats=("markdown",), name=name, change=change)
        for name, change in changes.items()
    )


OPERATORS = (
    *operators(
        ALL,
        "a.correctness.accuracy",
        {
            "a link to no heading": partial(insert, "See [below](#a-heading-that-is-gone)."),
            "Python that does not parse": partial(append, "```python\nprint('a'\n```"),
            "JSON that does not parse": partial(append, '```json\n{"a": [1, 2}\n```'),
            "a text to be written": partial(insert, "TODO: write this section."),
            "pseudo-Latin": partial(insert, "Lorem ipsum dolor sit amet, consectetur elit."),
            "a fence without its end": partial(append, "```sh\nmake"),
        },
    ),
    *operators(
        ("documentation",),
        "a.completeness.sections",
        {
            "nothing but the opening": first_lines,
            "no word on installation, no link": lambda text: without_lines(
                INSTALLATION, without_links(text)
            ),
            "no word on usage, no code, no link": lambda text: without_lines(
                USAGE, without_fences(without_links(text))
            ),
        },
    ),
    *operators(
        BOTH,
        "a.completeness.examples",
        {
            "no code block": without_fences,
            "code blocks with nothing in them": lambda text: append(
                "```sh\n```", without_fences(text)
            ),
            "code in the running text": lambda text: append("Run `make`.", without_fences(text)),
        },
    ),
    *operators(
        ALL,
        "a.quality.clarity",
        {
            "a sentence without an end": partial(insert, LONG),
            "a last sentence without an end": partial(append, LONG),
            "long sentences": long_sentences,
        },
    ),
    *operators(
        ALL,
        "b.quality.structure",
        {
            "a second title": second_title,
            "a skipped level": partial(append, "## One more\n\n##### Deep below\n\nText."),
            "no title": no_title,
        },
    ),
    *operators(
        PAGES,
        "b.completeness.cross-refs",
        {
            "a link to no file": partial(insert, "See [more](there/is/no-such-file.md)."),
            "an image that is not there": partial(append, "![A plan](there/is/no-such-plan.png)"),
        },
    ),
    *operators(BOTH, "b.completeness.cross-refs", {"no link": without_links}),
    *operators(
        ALL,
        "b.style.consistency",
        {
            "a fence without a language": untag_fence,
            "two kinds of bullets": partial(append, "- one\n- two\n\nText.\n\n* three\n* four"),
            "two kinds of fences": partial(append, "```sh\nmake\n```\n\n~~~sh\nmake\n~~~"),
            "a new block without a language": partial(append, "```\nmake\n```"),
        },
    ),
    *operators(
        PAGES,
        "b.quality.audience",
        {
            "no word at the opening": partial(no_opening, ""),
            "two words at the opening": partial(no_opening, "A tool."),
            "a badge at the opening": partial(no_opening, "[![b](https://a.example/b.svg)](#)"),
        },
    ),
)
