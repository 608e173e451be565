"""The files of a run over a session, and artifact.md, which shows their difference.

The document is Markdown with a section per file and a unified diff in it, against the start of the
run; `patch -p1` takes it. `rebuilt` is the way back: with the texts of the start it gives every
file exactly, or says that the document does not fit them.

Promises: the project's files follow the history like artifact.md does, so that a crash between an
event and its files is rolled forward, and what a person changed is judged next.
What is not a text file of the project (a link, a folder, bytes) is not an artifact: the recorded
one is put in its place.
Limits: a change of artifact.md itself is not a change of the artifact: it is written anew.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pytest_reflex.drivers.common.workspace import TextFile
from pytest_reflex.drivers.pytest_loop.child import SessionStart
from pytest_reflex.drivers.pytest_loop.editable_files import EditableFiles, clear, clear_way, faults
from pytest_reflex.drivers.reflex.history import RecordedRun
from pytest_reflex.drivers.reflex.runfiles import RunFiles
from pytest_reflex.errors import ArtifactError, StateError
from pytest_reflex.storage.delta import make_delta, split_lines

TITLE = "# Changes since the start of the run"
CONTEXT = 3

_NOTHING = "/dev/null"
_NO_END = "\\ No newline at end of file"
_HUNK = re.compile(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@")
_TICKS = re.compile("`+")

Files = Mapping[str, str]
Tagged = tuple[str, str]


def document(start: Files, now: Files) -> str:
    """Return the document of differences between the files of now and those of the start."""
    parts = [f"{TITLE}\n"]
    for path in sorted({*start, *now}):
        old, new = start.get(path), now.get(path)
        if old != new:
            parts.append(_section(path, old, new))
    return "\n".join(parts)


def _section(path: str, old: str | None, new: str | None) -> str:
    sides = (
        f"--- {_NOTHING if old is None else f'a/{path}'}",
        f"+++ {_NOTHING if new is None else f'b/{path}'}",
    )
    body = "\n".join((*sides, *_hunks(_tag_lines(old or "", new or ""))))
    fence = "`" * max(3, *(len(run) + 1 for run in _TICKS.findall(body)), 0)
    return f"## {path}\n\n{fence}diff\n{body}\n{fence}\n"


def _tag_lines(old: str, new: str) -> list[Tagged]:
    """Return every line of both texts with ` `, `-` or `+` before it."""
    lines, at, found = split_lines(old), 0, list[Tagged]()
    for kind, what in make_delta(old, new):
        if kind == "+":
            found += [("+", line) for line in split_lines(what)]
            continue
        found += [(" " if kind == "=" else "-", line) for line in lines[at : at + what]]
        at += what
    return found


def _hunks(tagged: Sequence[Tagged]) -> Iterator[str]:
    old = new = 0
    starts = []
    for tag, _ in tagged:
        starts.append((old, new))
        old, new = old + (tag != "+"), new + (tag != "-")
    for first, last in _windows(tagged):
        inside = tagged[first:last]
        before = sum(tag != "+" for tag, _ in inside)
        after = sum(tag != "-" for tag, _ in inside)
        old, new = starts[first]
        yield f"@@ -{old + bool(before)},{before} +{new + bool(after)},{after} @@"
        for tag, line in inside:
            yield tag + line.removesuffix("\n")
            if not line.endswith("\n"):
                yield _NO_END


def _windows(tagged: Sequence[Tagged]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of lines that a hunk shows: changes that lie close share one."""
    first = last = -1
    for at, (tag, _) in enumerate(tagged):
        if tag == " ":
            continue
        if last >= 0 and at - CONTEXT > last:
            yield first, last
            first = -1
        if first < 0:
            first = max(at - CONTEXT, 0)
        last = min(at + CONTEXT + 1, len(tagged))
    if first >= 0:
        yield first, last


def rebuilt(start: Files, text: str) -> dict[str, str]:
    """Return the files that a document leads to; raises StateError where it does not fit."""
    lines = text.split("\n")
    files = dict(start)
    if lines[0] != TITLE:
        raise StateError(f"the document of changes begins with {lines[0]!r:.80}")
    at = 1
    while at < len(lines):
        if lines[at].startswith("## "):
            at = _apply_section(lines, at, files)
        elif lines[at]:
            raise _misfit(lines, at)
        else:
            at += 1
    return files


def _apply_section(lines: Sequence[str], at: int, files: dict[str, str]) -> int:
    path = lines[at][3:]
    try:
        fence = lines[at + 2].removesuffix("diff")
        gone = lines[at + 4] == f"+++ {_NOTHING}"
        old, at = split_lines(files.get(path, "")), at + 5
        new: list[str] = []
        taken = 0
        while lines[at] != fence:
            taken, at = _apply_hunk(lines, at, old, taken, new)
    except IndexError:
        raise StateError(f"the document of changes ends inside {path}") from None
    if gone:
        files.pop(path, None)
    else:
        files[path] = "".join([*new, *old[taken:]])
    return at + 1


def _apply_hunk(
    lines: Sequence[str], at: int, old: list[str], taken: int, new: list[str]
) -> tuple[int, int]:
    """Apply one hunk; return how many old lines are used up, and the line after the hunk."""
    found = _HUNK.fullmatch(lines[at])
    if not found:
        raise _misfit(lines, at)
    first, before, _, after = map(int, found.groups())
    begin = first - bool(before)
    new += old[taken:begin]
    taken, at = begin, at + 1
    while before or after:
        tag, content = lines[at][:1], lines[at][1:]
        ends = lines[at + 1] != _NO_END
        line = content + "\n" * ends
        if tag not in (" ", "-", "+") or (tag != "+" and old[taken : taken + 1] != [line]):
            raise _misfit(lines, at)
        if tag != "+":
            before, taken = before - 1, taken + 1
        if tag != "-":
            after -= 1
            new.append(line)
        at += 1 if ends else 2
    return taken, at


def _misfit(lines: Sequence[str], at: int) -> StateError:
    return StateError(
        f"the document of changes does not fit the start of the run at line {at + 1}: "
        f"{lines[at]!r:.80}"
    )


def counts(start: Files, now: Files) -> list[tuple[str, int, int]]:
    """Return path, lines added and lines removed of every file that changed."""
    found = []
    for path in sorted({*start, *now}):
        old, new = start.get(path), now.get(path)
        if old != new:
            tags = [tag for tag, _ in _tag_lines(old or "", new or "")]
            found.append((path, tags.count("+"), tags.count("-")))
    return found


TREE = "tree"
REFUSED = "refused"  # the folder of a run to which is moved what lies in an artifact's place


class ProjectFiles:
    """The files of a project as what a run works on: its artifact is their difference."""

    def __init__(self, run: RecordedRun) -> None:
        self._run, self._copy = run, TextFile(run.artifact_path)
        self._refusals: tuple[str, ...] = ()

    @property
    def tree(self) -> Mapping[str, Any]:
        """What run_started keeps of the project; raises StateError where it keeps nothing."""
        found = self._run.latest_events()[0].payload.get(TREE)
        if not isinstance(found, Mapping):
            raise StateError(f"{self._run.folder} holds no loop over a pytest session")
        return found

    @property
    def project(self) -> Path:
        """The root folder; a project may be moved with its runs."""
        return Path(os.path.normpath(self._run.folder.absolute() / self.tree["root"]))

    @property
    def editable_files(self) -> EditableFiles:
        return EditableFiles(root=self.project, patterns=tuple(self.tree["patterns"]))

    @property
    def initial_texts(self) -> Mapping[str, str]:
        """The texts of the files at the start of the run."""
        texts: Mapping[str, str] = self.tree["files"]
        return texts

    @property
    def links(self) -> Mapping[str, str]:
        """Where the links lead that were among the files at the start, by path."""
        links: Mapping[str, str] = self.tree.get("links", {})
        return links

    @property
    def start(self) -> SessionStart:
        return SessionStart.from_json(self.tree["sealed"])

    def document(self) -> str:
        """Return the document of changes as the files have it now; raises ArtifactError."""
        return document(self.initial_texts, self.editable_files.read())

    def validation_error(self) -> str:
        """Return why the files as they are now are not artifacts, an empty string where they
        are.
        """
        if found := faults(self.editable_files, self.recorded_files(), self.links):
            return "; ".join(found.values())
        try:
            self.editable_files.read()
        except ArtifactError as error:
            return error.problems[0].message
        return ""

    def recorded_files(self) -> dict[str, str]:
        """Return the files as the history has them."""
        return self._files_of(self._run.artifact_text())

    def _files_of(self, text: str) -> dict[str, str]:
        return rebuilt(self.initial_texts, text) if text else dict(self.initial_texts)

    def restore(self) -> bool:
        """Put what is recorded in place of what is not an artifact; return whether any was.

        `take_refusals` reports it later.
        """
        recorded = self.recorded_files()
        found = faults(self.editable_files, recorded, self.links)
        for place in found:
            clear(self.project, place, self._run.folder / REFUSED)
        for path, text in recorded.items():
            if any(path == place or path.startswith(f"{place}/") for place in found):
                clear_way(self.project, path, self._run.folder / REFUSED, self.links)
                self.editable_files.write_one(path, text)
        for place in found.keys() & self.links.keys():
            with suppress(OSError):  # something else is there now
                (self.project / place).symlink_to(self.links[place])
        self._refusals += tuple(found.values())
        return bool(found)

    def put_back(self) -> None:
        """Make the files what the history has; raises StateError."""
        self.restore()
        self._refusals = ()  # the refusal of the answer is reported elsewhere
        self._write_tree(self.recorded_files())

    def take_refusals(self) -> tuple[str, ...]:
        """Return what was put in its place since this was asked last, and why."""
        refusals, self._refusals = self._refusals, ()
        return refusals

    def read(self) -> bytes | None:
        """Return the document of changes as the files have it now; our own copy follows it."""
        self.restore()
        text = self.document()
        if text == self._run.artifact_text() and self._copy.read() != text.encode():
            self._copy.write(text)
        return text.encode()

    def write(self, text: str, *, follow: bool = True) -> None:
        """Make the files what a document of changes says, and our own copy with them."""
        if follow:
            self._write_tree(self._files_of(text))
        self._copy.write(text)

    def _write_tree(self, texts: Mapping[str, str]) -> None:
        self.restore()
        editable = self.editable_files
        for path in texts:
            clear_way(self.project, path, self._run.folder / REFUSED, self.links)
        editable.write(texts)


def create_run(root: Path, task: str, alias: str | None) -> RunFiles:
    """Make the folder of a new run over a project, exclusively, and take its lock."""
    return RunFiles.create(root, task, alias, ProjectFiles)


def open_run(folder: Path) -> RunFiles:
    """Take the lock of a run over a project, and bring its files to what its history says."""
    return RunFiles.open(folder, ProjectFiles)


def project_of(files: RunFiles) -> ProjectFiles:
    """Return what a run over a project works on."""
    assert isinstance(files.workspace, ProjectFiles)
    return files.workspace


def tree_of(
    project: Path,
    folder: Path,
    *,
    editable: EditableFiles,
    texts: Mapping[str, str],
    start: SessionStart,
    links: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return what run_started keeps of a project whose run lies in `folder`."""
    return {
        "root": os.path.relpath(project.absolute(), folder.absolute()),
        "patterns": list(editable.patterns),
        "files": dict(texts),
        "links": dict(links or {}),
        "sealed": start.to_json(),
    }
