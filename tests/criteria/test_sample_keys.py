"""Samples as criteria write them: texts, files by name, folders; and paths that stay inside."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from pytest_reflex.criteria.author.schema import samples_schema
from pytest_reflex.criteria.sample_keys import MOST_FILES
from pytest_reflex.errors import CriteriaError
from pytest_reflex.model.artifact import Sample
from tests.criteria.writing import load, problems, rule, rules

SCHEMA = Draft202012Validator(samples_schema())


def with_samples(samples: Any) -> str:
    # YAML takes keys of 1,024 characters at most, and escapes are long.
    text = samples if isinstance(samples, str) else json.dumps(samples, ensure_ascii=False)
    return rules(rule(samples=text))


FORMS: dict[str, tuple[Any, Sample]] = {
    "a text": ("x", Sample.of_text("x")),
    "a file": ({"file": "a/b.md", "text": ""}, Sample({"a/b.md": ""})),
    "a folder": ({"files": {"a.md": "x", ".env": "y"}}, Sample({"a.md": "x", ".env": "y"}, True)),
    "an empty folder": ({"files": {}}, Sample({}, True)),
}


@pytest.mark.parametrize(("written", "sample"), FORMS.values(), ids=FORMS)
def test_every_form_is_read_alone_and_in_a_list(
    tmp_path: Path, written: Any, sample: Sample
) -> None:
    found = load(tmp_path, with_samples({"good": written, "bad": [written, "z"]})).rules[0].samples
    assert found == {"good": [sample], "bad": [sample, Sample.of_text("z")]}
    assert sample.to_plain() == written
    assert SCHEMA.is_valid({"good": written, "bad": [written, "z"]})


HINT = '({file: compose.yaml, text: "..."} or {files: {a/b.md: "..."}})'
SHAPE = f"a sample is a text, or a mapping of file and text, or of files {HINT}"
INSIDE = "is not a path of a file inside a sample (write it relative and with slashes: docs/a.md)"
FAULTS = {
    "a key": ("{fil: a, text: x}", "6:23: X: a sample has no key 'fil' (did you mean file?)"),
    "no text": ("{file: a}", f"6:22: X: {SHAPE}"),
    "no file": ("{text: a}", f"6:22: X: {SHAPE}"),
    "both": ("{file: a, text: x, files: {b: y}}", f"6:22: X: {SHAPE}"),
    "nothing": ("{}", f"6:22: X: {SHAPE}"),
    "a path up": ("{file: ../a, text: x}", f"6:29: X: '../a' {INSIDE}"),
    "a path up within": ("{files: {a/../b: x}}", f"6:31: X: 'a/../b' {INSIDE}"),
    "an absolute path": ("{file: /etc/a, text: x}", f"6:29: X: '/etc/a' {INSIDE}"),
    "a drive": ("{file: 'C:a', text: x}", f"6:29: X: 'C:a' {INSIDE}"),
    "a backslash": (r"{file: 'a\b', text: x}", rf"6:29: X: 'a\\b' {INSIDE}"),
    "a folder's name": ("{file: a/, text: x}", f"6:29: X: 'a/' {INSIDE}"),
    "what no artifact has": ("{files: {.git/config: x}}", f"6:31: X: '.git/config' {INSIDE}"),
    "no name": ("{file: '', text: x}", f"6:29: X: '' {INSIDE}"),
    "a long name": (f"{{file: {'a' * 61}, text: x}}", INSIDE),
    "a number as text": (
        "{file: a, text: 1}",
        "6:38: X: text must be a text, not the number 1 (put it in quotes)",
    ),
    "a number as file": ("{file: 1, text: x}", "6:29: X: file must be a text, not the number 1"),
    "a list of files": ("{files: [a]}", "6:30: X: files must be a mapping, not a list"),
    "files of nothing": ("{files: }", "X: files must be a mapping, not nothing"),
    "a file that is a folder": (
        "{files: {A/b: x, a: y}}",
        "6:31: X: 'A/b' and 'a' cannot both be files of a folder",
    ),
    "a file twice": (
        "{files: {a: x, A: y}}",
        "6:37: X: 'A' and 'a' cannot both be files of a folder",
    ),
    "a list": ("[x]", "6:22: X: an item of good must be a text or a mapping, not a list"),
    "a control character": ('"a\\0b"', "an item of good holds the control character U+0000"),
}


@pytest.mark.parametrize(("sample", "message"), FAULTS.values(), ids=FAULTS)
def test_what_is_wrong_with_a_sample_is_said_with_its_place(
    tmp_path: Path, sample: str, message: str
) -> None:
    (found,) = problems(tmp_path, with_samples(f"{{good: [{sample}]}}"))
    assert message.replace("X:", "rule a.docs.title:") in found


def test_too_many_files_are_counted(tmp_path: Path) -> None:
    files = {f"{number}.md": "" for number in range(MOST_FILES + 1)}
    (found,) = problems(tmp_path, with_samples({"good": [{"files": files}]}))
    assert "a sample has 100 files at most, not 101" in found
    assert not SCHEMA.is_valid({"good": [{"files": files}]})


PARTS = st.sampled_from(
    ["a", "b.md", ".", "..", "", ".git", ".env", "C:", "\\", "ä" * 60, "a" * 61]
)
PATHS = st.lists(PARTS, max_size=12).map("/".join) | st.text("a./\\ :\n", max_size=8)
SAMPLES = st.one_of(
    st.sampled_from(["x", "", 1, None, [], {}, {"text": "x"}, {"file": "a"}]),
    st.builds(lambda path, text: {"file": path, "text": text}, PATHS, st.sampled_from(["x", 1])),
    st.builds(lambda path, text: {"files": {path: text}}, PATHS, st.sampled_from(["x", None])),
    st.builds(lambda files: {"files": files}, st.sampled_from([None, {}, [], "x"])),
)


@pytest.mark.long
@settings(
    deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(SAMPLES)
def test_the_schema_refuses_what_the_reader_refuses(tmp_path: Path, sample: Any) -> None:
    samples = {"good": [sample]}
    try:
        (read,) = load(tmp_path, with_samples(samples)).rules[0].samples["good"]
    except CriteriaError:
        assert not SCHEMA.is_valid(samples)
        return
    assert SCHEMA.is_valid(samples)
    for name in read.files:
        path = os.path.normpath(tmp_path / name)
        assert path == f"{tmp_path}/{name}" or not name
