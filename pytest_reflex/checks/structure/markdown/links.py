"""`links`: what a Markdown text links to exists, also where a generator of sites builds the page.

MkDocs with autorefs or snippets defines references elsewhere, and makes other anchors than a forge;
Sphinx with MyST finds targets in other pages. What a page says itself counts most: it may lie in
another folder than where it belongs.
"""

from __future__ import annotations

import os
import posixpath
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from pytest_reflex.checks.finding import Finding, Report
from pytest_reflex.checks.options import COUNT, FLAG, TEXT, ParameterType
from pytest_reflex.checks.selection import ACROSS
from pytest_reflex.checks.structure.check import Judge, JudgeTogether, ParameterError, StructureKind
from pytest_reflex.checks.structure.markdown import model
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.targets import CheckContext

MAX_ABOVE = 6  # folders


class Generator(Enum):
    """What builds a page, as far as it matters for links."""

    NONE = ""
    MKDOCS = "MkDocs"
    APPENDING = "MkDocs that puts a text below each page"
    SPHINX = "Sphinx"


_SIGNS = (
    (
        Generator.SPHINX,
        re.compile(
            r"^[`:]{3,}\{[a-z][\w:-]*\}|^\([\w:.-]+\)=\s*$|\{(?:ref|doc|term|numref)\}`", re.M
        ),
    ),
    (
        Generator.MKDOCS,
        re.compile(
            r"^[ \t]*(?:!!!|\?\?\?\+?) +\w|^::: +[\w.]+[ \t]*$|^/// +[\w-]+|\{![^{}\n]*!\}|--8<--"
            r"|^=== +[\"']|\{: *[.#][\w -]*\}",
            re.M,
        ),
    ),
)
_FILES_ABOVE = ("mkdocs.yml", "mkdocs.yaml", "properdocs.yml", "zensical.toml")
_FILE_OF_SPHINX = "conf.py"


def generator_of(text: str, folder: Path) -> Generator:
    """Return what builds the page: by its own marks, else by a file in a folder above it."""
    marked = next((kind for kind, sign in _SIGNS if sign.search(text)), None)
    placed = _by_folder(folder) if marked is not Generator.SPHINX else Generator.NONE
    return placed if marked is None or placed is Generator.APPENDING else marked


@lru_cache(maxsize=64)
def _by_folder(folder: Path) -> Generator:
    """Look for the file of a generator; a README beside that of MkDocs is none of its pages."""
    try:
        above = [folder, *folder.absolute().parents][:MAX_ABOVE]
        for number, place in enumerate(above):
            for file in (place / name for name in _FILES_ABOVE if number):
                if file.is_file():
                    appends = "auto_append" in file.read_text("utf-8", errors="replace")
                    return Generator.APPENDING if appends else Generator.MKDOCS
            if (place / _FILE_OF_SPHINX).is_file():
                return Generator.SPHINX
            if (place / ".git").exists():
                break
    except OSError:
        pass
    return Generator.NONE


PARTS = {
    "targets": "files and images with a relative path exist, seen from where the artifact belongs",
    "anchors": "`#anchor` leads to a heading, by the slugs that GitHub makes, or to an `id`",
    "references": "`[text][label]` has a definition; a name of code such as `a.b` is let through",
}
"""What may be asked of links, with its meaning."""

_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//")
# {#id}, { #id .class }, {: #id } and {id="id"}, on a heading or on what follows it; (id)= stands
# above one.
_ATTRIBUTES = re.compile(r"\{:?([^{}]*+)\}")
_ID_IN_THEM = re.compile(r"""(?:^|\s)(?:\#|id=["']?)([\w:.-]+)""")
_ID_ABOVE = re.compile(r"^\(([\w:.-]+)\)=\s*$", re.MULTILINE)
# Text of other files is put in here, and headings with it.
_INCLUDES = re.compile(
    r"--8<--|\{![^{}\n]*!\}|\{%-?\s*include|\{\{\s*#include|^[`:]{3,}\{include\}", re.MULTILINE
)
# [text][label] that is still text after parsing; x[0][1] and footnotes are something else.
_UNDEFINED = re.compile(r"(?<![\w\])])\[([^\[\]]+)\]\[([^\[\]]*)\]")
_HYPHENS = re.compile(r"-{2,}")
_NUMBER = re.compile(r"-(\d+)$")
_OF_DOCS = frozenset(("docs", "doc", "documentation", "website"))
_NEAR = 4  # folders above a page
_MARK = re.compile(r"(?<![\]!])\[\]\(#([^()\s]*)\)")
"""[](#name): it cannot be clicked, so it is a mark for a tool."""
_OF_THE_PAGE = ("top", "readme")  # GitHub gives them to the page and to what it shows of a folder
_KEPT = frozenset(("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "Pc"))
_LETTERS_OF_SIGNS = re.compile(
    r"[\u24b6-\u24e9\U0001f130-\U0001f149\U0001f150-\U0001f169\U0001f170-\U0001f189]"
)
_NO_LABEL = re.compile(r"\^.*|\W*\d*\W*")
_OBJECT = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?:\(\))?")
"""A name of code, to which a generator of sites leads by itself."""


def _make(params: Mapping[str, Any]) -> Judge:
    asked = dict.fromkeys(PARTS, True) if params.get("links") else params
    least = params.get("min_count", 0)
    if "index" in params:
        raise ParameterError("index", "index is about several files: add across: true")
    if not least and not any(asked.get(part) for part in PARTS):
        raise ValueError("it asks for nothing, so that it cannot fail")

    def judge(artifact: Artifact, context: CheckContext) -> Report:
        document = model.of(artifact)
        links = [link for link in document.links if not link.image]
        findings: list[Finding] = []
        if asked.get("targets"):
            findings += _find_missing_targets(document, artifact)
        builder = Generator.NONE
        if asked.get("anchors") or asked.get("references"):
            builder = generator_of(document.text, Path(artifact.link_base))
        left: list[Finding] = []
        if asked.get("anchors"):
            in_docs = _is_in_docs(artifact)
            for finding, may_lead in _find_missing_anchors(document, builder):
                to_site = builder is Generator.SPHINX or (in_docs and may_lead)
                (left if to_site else findings).append(finding)
        if asked.get("references"):
            for finding, label in _find_undefined(document):
                (left if _is_resolved(label, builder) else findings).append(finding)
        if len(links) < least:
            findings.append(Finding(f"{len(links)} links, at least {least} are wanted"))
        return Report(
            sorted(findings, key=lambda f: f.line), f"{len(links)} links{_format_unknown(left)}"
        )

    return judge


def _format_unknown(left: list[Finding]) -> str:
    """Return what only the generator of the site knows, for a passing result."""
    if not left:
        return ""
    return f"; left to the generator of the site: {len(left)}, the first: {left[0].message}"


def _is_resolved(label: str, builder: Generator) -> bool:
    """Return whether a generator may know a label that the page does not define."""
    if builder is Generator.APPENDING:
        return True
    in_a_site = builder is not Generator.NONE and not any(map(str.isspace, label))
    return in_a_site or bool(_OBJECT.fullmatch(label))


def _together(params: Mapping[str, Any]) -> JudgeTogether:
    for key in ("links", *PARTS, "min_count"):
        if params.get(key):
            raise ParameterError(key, f"{key} is about each file: make a check of its own for it")
    if "index" not in params:
        raise ValueError("with across: true it needs index, the file that links to the others")
    name = posixpath.normpath(params["index"])

    def judge(folder: Artifact, files: Sequence[Artifact], context: CheckContext) -> Report:
        index = next((file for file in folder.select(("*",)) if file.name == name), None)
        if index is None:
            return Report([Finding(f"there is no index {name}")])
        linked = set(_linked_files(index))
        findings = [
            Finding(f"{name} does not link to {file.name}", 1, file=file.name)
            for file in files
            if file.name != name and not linked & _names_of(file.name)
        ]
        return Report(findings, f"all are linked from {name}")

    return judge


def _linked_files(index: Artifact) -> Iterator[str]:
    """Yield where the links of a file lead, as seen from its folder."""
    for link in model.of(index).links:
        target = link.target.strip()
        if target and not _SCHEME.match(target):
            path = unquote(re.split(r"[?#]", target, maxsplit=1)[0])
            seen_from = "" if path.startswith("/") else posixpath.dirname(index.name)
            yield posixpath.normpath(posixpath.join(seen_from, path.lstrip("/")))


def _names_of(name: str) -> set[str]:
    """Return what a link to a file may say: its name, that of the page, or that of its folder."""
    stem, _ = posixpath.splitext(name)
    folder, page = posixpath.split(stem)
    return {name, stem, folder or "."} if page.lower() in ("index", "readme") else {name, stem}


def _find_missing_targets(document: model.Markdown, artifact: Artifact) -> Iterator[Finding]:
    """Find relative targets that lie nowhere; those from the root of a site cannot be known."""
    for link in document.links:
        target = link.target.strip()
        if not target or target[0] in "#/?" or _SCHEME.match(target):
            continue
        path = unquote(re.split(r"[?#]", target, maxsplit=1)[0])
        if not _exists(os.path.join(artifact.link_base, path)):
            kind = "image" if link.image else "link target"
            yield Finding(f"the {kind} {path!r} does not exist", link.line)


def _exists(path: str) -> bool:
    try:
        return os.path.exists(path)
    except (OSError, ValueError):  # a NUL, or longer than a path can be
        return False


def _is_in_docs(artifact: Artifact) -> bool:
    """Return whether a page lies in a folder of documentation, whose pages are mostly a site's."""
    folders = Path(os.path.abspath(artifact.link_base)).parts[-_NEAR:]
    is_readme = Path(artifact.name).stem.lower() == "readme"
    return not is_readme and not _OF_DOCS.isdisjoint(map(str.lower, folders))


def _find_missing_anchors(
    document: model.Markdown, builder: Generator
) -> Iterator[tuple[Finding, bool]]:
    """Find anchors that no heading has, each with whether a generator may make it of one."""
    if _INCLUDES.search(document.text):
        return
    known = {"", *_OF_THE_PAGE, *slugs(document)}
    known |= {anchor.lower() for anchor in document.html_anchors}
    of_sites = {_HYPHENS.sub("-", slug).strip("-") for slug in known}
    of_sites |= {_NUMBER.sub(r"_\1", slug) for slug in known | of_sites}
    if builder is not Generator.NONE:
        known |= of_sites
    marks = set(_MARK.findall(document.text))
    for link in document.links:
        if not link.text and link.target[1:] in marks:
            continue
        if link.target.startswith("#") and not link.target.startswith("#:~:"):
            anchor = unquote(link.target[1:])
            wanted = anchor.lower().removeprefix("user-content-")
            if wanted not in known:
                finding = Finding(f"the anchor #{anchor} leads to no heading", link.line)
                yield finding, wanted in of_sites


def slugs(document: model.Markdown) -> set[str]:
    """Return the anchors that GitHub makes of the headings, and ids given as `{#id}`."""
    found: set[str] = set()
    counts: dict[str, int] = {}
    for text, _ in document.prose_lines():
        found |= {own.lower() for own in _own_ids(text)}
    headings = sorted([*document.headings, *document.html_headings], key=lambda h: h.line)
    for heading in headings:
        slug = slug_of(heading.anchor_text)
        number = counts.get(slug, 0)
        counts[slug] = number + 1
        found.add(f"{slug}-{number}" if number else slug)
    return found


def _own_ids(text: str) -> Iterator[str]:
    for attributes in _ATTRIBUTES.finditer(text):
        if own := _ID_IN_THEM.search(attributes[1]):
            yield own[1]
    yield from _ID_ABOVE.findall(text)


def slug_of(title: str) -> str:
    """Return the anchor of one heading: words and marks stay, blanks become hyphens."""
    return "".join(c for c in title.lower() if _is_kept(c)).replace(" ", "-")


def _is_kept(character: str) -> bool:
    # Letters (also in a circle), marks, decimal digits, what connects words, and two beside them.
    if character in "- " or unicodedata.category(character) in _KEPT:
        return True
    return _LETTERS_OF_SIGNS.match(character) is not None


def _find_undefined(document: model.Markdown) -> Iterator[tuple[Finding, str]]:
    for token in document.tokens:
        if token.type != "inline":
            continue
        text = "".join(
            child.content if child.type == "text" else "\n" if child.type == "softbreak" else "\0"
            for child in document.children(token)
        )
        for match in _UNDEFINED.finditer(text):
            label = match[2] or match[1]
            if not _NO_LABEL.fullmatch(label) and "\0" not in label:
                line = (token.map[0] + 1 if token.map else 0) + text.count("\n", 0, match.start())
                yield Finding(f"the reference [{label}] is not defined", line), label


KIND = StructureKind(
    key="links",
    make=_make,
    forbids=lambda params: params.get("links") is True or any(params.get(key) for key in PARTS),
    value=ParameterType(
        "true, or a table", lambda value: value is True, schema={"const": True}
    ).means("`true` asks for targets, anchors and references"),
    inside={
        **{part: FLAG.means(words, "`false`") for part, words in PARTS.items()},
        "min_count": COUNT.means("there are at least so many links; images do not count", "0"),
        "index": TEXT.means(
            "with `across`: this file, seen from the folder, links to each of the others"
        ),
    },
    beside={"across": ACROSS},
    together="each file but `index` is linked from it",
    make_together=_together,
)
