"""The documents in which faults are planted: those of the corpus, in each format of a template.

Few API descriptions come as JSON and none in Markdown, so each small one is written in all three.
No Compose file of the corpus says when its services restart, and few have a comment: both is added
before anything is planted. A folder of code is made of the modules of a package that are listed.
Only documents up to a size are taken: a fault is the same in a short text and in a long one. An API
description that cannot be read is left out, and a page with a code block that never ends.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from benchmarks.corpus.packages import Document
from benchmarks.rules.operators.sections import is_open

LARGEST = 100_000
FORMATS = {
    "api-spec": ("yaml", "json", "markdown"),
    "code": ("file", "folder"),
    "configuration": ("yaml", "json", "toml", "ini", "env", "compose", "workflow"),
}
MARKDOWN = ("markdown",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A document (or a folder of some) in one format; `around` is where its package lies."""

    template: str
    format: str
    package: str
    path: str
    files: dict[str, str]
    around: Path | None = None


def sources(documents: Iterable[Document]) -> Iterator[Source]:
    """Yield each document in the formats of its template; texts that are not UTF-8 are left out."""
    folders: dict[str, dict[str, str]] = {}
    for document in documents:
        if document.file.stat().st_size > LARGEST:
            continue
        try:
            text = document.file.read_text("utf-8")
        except UnicodeDecodeError:
            continue
        if document.template == "code":
            folders.setdefault(document.package, {})[PurePosixPath(document.path).name] = text
        for format_, path, written in _written(document, text):
            top = document.file.parents[document.path.count("/")]
            yield Source(
                template=document.template,
                format=format_,
                package=document.package,
                path=path,
                files={path: written},
                around=top if format_ == "markdown" and path == document.path else None,
            )
    for package, files in folders.items():
        if len(files) > 1:
            yield Source(template="code", format="folder", package=package, path=".", files=files)


def _written(document: Document, text: str) -> Iterator[tuple[str, str, str]]:
    """Yield a format, the path and the text of the document in it."""
    path = document.path
    match document.template:
        case "api-spec":
            yield from _api(PurePosixPath(path), text)
        case "code":
            yield "file", path, text
        case "configuration":
            format_ = format_of(path)
            yield format_, path, completed(text) if format_ == "compose" else text
        case _ if not is_open(text):
            yield "markdown", path, text


def _api(path: PurePosixPath, text: str) -> Iterator[tuple[str, str, str]]:
    import yaml

    try:
        data = yaml.load(text, yaml.CSafeLoader)  # JSON is YAML
    except yaml.YAMLError:
        return  # it has a fault of its own
    is_json = path.suffix == ".json"
    as_json = text if is_json else json.dumps(data, indent=2, default=str)
    as_yaml = yaml.dump(data, Dumper=yaml.CSafeDumper, sort_keys=False) if is_json else text
    yield "yaml", str(path.with_suffix(".yaml")), as_yaml
    yield "json", str(path.with_suffix(".json")), as_json
    yield "markdown", str(path.with_suffix(".md")), f"# API\n\n```yaml\n{as_yaml.rstrip()}\n```\n"


def format_of(path: str) -> str:
    """Return the format of a configuration file by its name."""
    name = PurePosixPath(path).name
    if "/workflows/" in path or "github-deploy" in name:
        return "workflow"
    if "compose" in name:
        return "compose"
    if name.startswith(".env"):
        return "env"
    suffix = PurePosixPath(path).suffix.lstrip(".")
    return suffix if suffix in ("json", "toml") else "yaml" if suffix in ("yaml", "yml") else "ini"


def completed(compose: str) -> str:
    """Return a Compose file with a comment, and `restart` for each service where none has it."""
    if "restart:" in compose:
        return compose
    before, head, rest = compose.partition("services:\n")
    end = next((found.start() for found in re.finditer(r"^[a-z]", rest, re.MULTILINE)), len(rest))
    services = re.sub(r"^  [\w-]+:$", r"\g<0>\n    restart: always", rest[:end], flags=re.MULTILINE)
    return f"# Services to try things out with\n{before}{head}{services}{rest[end:]}"
