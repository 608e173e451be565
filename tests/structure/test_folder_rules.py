"""Which files of a folder decide, which of them a glob means, and what `*` in a path stands for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_reflex.checks.content import ContentCheck
from pytest_reflex.checks.structure.check import StructureCheck
from pytest_reflex.criteria.suite import match_artifacts
from pytest_reflex.integrity.patterns import Finder, escape_path, is_meant
from pytest_reflex.model.artifact import Artifact
from pytest_reflex.model.enums import Outcome
from pytest_reflex.model.globs import may_select_below, selects
from pytest_reflex.model.results import CheckResult
from pytest_reflex.model.rules import CheckSpec
from pytest_reflex.model.targets import CheckContext
from tests.structure.judging import judge


def judged(params: dict[str, Any], **files: str) -> CheckResult:
    """Return what a check says of a folder; `__` in a name stands for a slash, `_` for a dot."""
    named = {name.replace("__", "/").replace("_", "."): text for name, text in files.items()}
    parts = [Artifact(path=Path(n), name=n, data=t.encode()) for n, t in sorted(named.items())]
    folder = Artifact(path=Path("d"), name="d", files=tuple(parts))
    kind = ContentCheck() if "search" in params else StructureCheck()
    spec = CheckSpec(type=kind.name, params=params)
    return kind.compile(spec, {})(folder, CheckContext(root=Path()))


CALL = {"language": "python", "pattern": "print($$$)"}
ABSENT = [
    ("py", "print(1)\n", "x = 1\n", {"code": {**CALL, "negate": True}}),
    ("py", "print(1)\n", "x = 1\n", {"code": {**CALL, "max_count": 0}}),
    ("yaml", "a: {b: 1}\n", "c: 1\n", {"path": "a.b", "exists": False}),
    ("md", "![a](b.png)\n", "text\n", {"count": {"images": 0}}),
    ("md", "- a\n- b\n", "text\n", {"count": {"items": {"max": 1}}}),
    ("md", "# A\n\n# B\n", "# A\n", {"count": {"headings": 1}}),
    ("md", "TODO\n", "text\n", {"prose": {"placeholders": False}}),
    ("md", "one two three\n", "one\n", {"prose": {"max_sentence": 2}}),
    ("md", "[a](#b)\n", "text\n", {"links": {"anchors": True}}),
    ("md", "```json\n{\n```\n", "text\n", {"code_blocks": {"parse": True}}),
    ("md", "# A\n\n### B\n", "# A\n", {"headings": {"levels": True}}),
    ("md", "|a|\n|-|\n|1|\n|2|\n", "text\n", {"tables": {"max_rows": 1}}),
    ("yaml", "password: hunter2plain\n", "a: 1\n", {"configuration": "secrets"}),
    ("yaml", "image: a:latest\n", "image: a:1\n", {"configuration": "portability"}),
    ("md", "TODO\n", "text\n", {"search": "TODO", "negate": True}),
    ("json", '{"b": 1}', '{"a": 1}', {"json_schema": {"not": {"required": ["b"]}}}),
    ("yaml", "b: {c: 1}\n", "a: 1\n", {"json_schema": {"title": "T", "not": {"required": ["b"]}}}),
]


@pytest.mark.parametrize(("ending", "bad", "good", "params"), ABSENT)
def test_what_must_not_be_there_must_be_in_none_of_the_files(
    ending: str, bad: str, good: str, params: dict[str, Any]
) -> None:
    params = {**params, "files": f"*.{ending}"}
    for names in (("a", "b"), ("b", "a"), ("sub__a", "b")):
        files = {f"{names[0]}_{ending}": bad, f"{names[1]}_{ending}": good}
        assert judged(params, **files).outcome is Outcome.FAIL
    assert judged(params, **{f"a_{ending}": good, f"b_{ending}": good}).message == (
        "2 of 2 files checked"
    )


def test_what_could_not_be_measured_in_one_file_does_not_hold_in_all() -> None:
    params = {"configuration": "portability", "files": ["*.yaml", "*.tf"]}
    result = judged(params, a_yaml="a: 1\n", b_tf='resource "a" "b" {\n}\n', c_yaml="a: 1\n")
    assert result.outcome is Outcome.NOT_MEASURED
    assert result.message.startswith("b.tf: ")
    assert result.message.endswith("(3 of 3 files checked)")


def test_verdict_says_how_many_files_were_looked_at() -> None:
    files = {"a_md": "no\n", "b_md": "yes\n", "c_md": "no\n"}
    found = judged({"search": "yes", "files": "*.md"}, **files)
    assert found.message == "b.md: pattern found at line 1 (2 of 3 files checked)"
    found = judged({"search": "no|yes", "files": "*.md", "each": True}, **files)
    assert found.message == "3 of 3 files checked"


GLOBS = {
    "*.md": "a.md b.md sub/b.md sub/deep/c.md",
    "a.md": "a.md",
    "b.md": "b.md sub/b.md",
    "**/*.md": "a.md b.md sub/b.md sub/deep/c.md",
    "./*.md": "a.md b.md",
    "/*.md": "a.md b.md",
    "{a,b}.md": "a.md b.md sub/b.md",
    "./{a,b}.{md,txt}": "a.md b.md",
    "sub/*.md": "sub/b.md",
    "sub/**/*.md": "sub/b.md sub/deep/c.md",
    "**/deep/*.md": "sub/deep/c.md",
    "sub": "sub/b.md sub/deep/c.md",
    "deep/": "sub/deep/c.md",
    "sub/*": "sub/b.md sub/deep/c.md",
    "[!a].md": "b.md sub/b.md sub/deep/c.md",
    "?.md": "a.md b.md sub/b.md sub/deep/c.md",
    "*": "a.md b.md sub/b.md sub/deep/c.md",
    "**": "a.md b.md sub/b.md sub/deep/c.md",
    "x/*.md": "",
}
NAMES = ("a.md", "b.md", "sub/b.md", "sub/deep/c.md")


@pytest.mark.parametrize(("pattern", "wanted"), GLOBS.items(), ids=GLOBS)
def test_glob_means_files_of_a_folder(pattern: str, wanted: str) -> None:
    assert " ".join(name for name in NAMES if selects([pattern], name)) == wanted


BELOW = {
    ("*.md", "sub"): True,
    ("./*.md", "sub"): False,
    ("sub/*.md", "sub"): True,
    ("sub/*.md", "sub/deep"): False,
    ("sub/**/*.md", "sub/deep"): True,
    ("{sub,x}/*.md", "x"): True,
    ("sub", "sub/deep"): True,
}


@pytest.mark.parametrize(("case", "may"), BELOW.items(), ids=map(str, BELOW))
def test_glob_may_mean_files_below_a_folder(case: tuple[str, str], may: bool) -> None:
    assert may_select_below([case[0]], case[1]) is may


def test_choices_are_known_to_artifacts_and_to_seals(tmp_path: Path) -> None:
    for name in ("a.md", "b.md", "c.md", "{a,b}.txt", "d/a.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert [path.name for path in match_artifacts("{a,b}.md", tmp_path)] == ["a.md", "b.md"]
    assert [path.name for path in match_artifacts("./{b,x}.md", tmp_path)] == ["b.md"]
    assert [path.name for path in match_artifacts("{a,b}.txt", tmp_path)] == ["{a,b}.txt"]
    found = sorted(Path(path).name for path in Finder(tmp_path).find("{a,c}.md"))
    assert found == ["a.md", "c.md"]
    assert is_meant("d/a.md", ["{c,d}/*.md"])
    assert not is_meant("d/a.md", ["{b,c}/*.md"])
    assert [*Finder(tmp_path).find(escape_path("{a,b}.txt"))] == [str(tmp_path / "{a,b}.txt")]


BUCKETS = "b:\n  one: {tags: {owner: ann}}\n  two: {tags: {}}\n"
EVERY = [
    (BUCKETS, "b.*.tags.owner", {}, "b.two.tags.owner is not there"),
    (BUCKETS, "b.*.tags.owner", {"matches": "."}, "b.two.tags.owner is not there"),
    (BUCKETS, "b.*.tags.owner", {"equals": "ann"}, "b.two.tags.owner is not there"),
    (BUCKETS, "b.*.tags.owner", {"value_type": "string"}, "b.two.tags.owner is not there"),
    ("a: [{n: 1}, {m: 1}]\n", "a[*].n", {}, "a[1].n is not there"),
    ("a: [{n: 1}, 2]\n", "a[*].n", {}, "a[1].n is not there"),
    ("a: {b: {c: [{d: 1}]}, e: {c: [{f: 1}]}}\n", "a.*.c.*.d", {}, "a.e.c[0].d is not there"),
    ("x: {a: [{n: 1}, {}]}\n", "**.a.*.n", {}, "x.a[1].n is not there"),
    ("a: []\n", "a[*].n", {}, "a[*].n is not there"),
]


@pytest.mark.parametrize(("text", "path", "wanted", "message"), EVERY)
def test_star_in_a_path_means_every_one(
    text: str, path: str, wanted: dict[str, Any], message: str
) -> None:
    result = judge(text, {"path": path, **wanted}, "a.yaml")
    assert result.outcome is Outcome.FAIL
    assert message in result.message


@pytest.mark.parametrize(
    ("params", "outcome"),
    [
        ({"some": True}, Outcome.PASS),
        ({"some": True, "equals": "ann"}, Outcome.PASS),
        ({"some": True, "matches": "^b"}, Outcome.FAIL),
        ({"min_count": 1}, Outcome.PASS),
        ({"min_count": 2}, Outcome.FAIL),
    ],
)
def test_one_value_is_enough_where_the_author_says_so(
    params: dict[str, Any], outcome: Outcome
) -> None:
    assert judge(BUCKETS, {"path": "b.*.tags.owner", **params}, "a.yaml").outcome is outcome


def test_some_passes_where_another_value_is_not_as_wanted() -> None:
    params = {"path": "a.*", "equals": 1, "some": True}
    assert judge("a: [2, 1]\n", params, "a.yaml").outcome is Outcome.PASS
    assert judge("a: [2, 3]\n", params, "a.yaml").outcome is Outcome.FAIL


@pytest.mark.parametrize(
    "text", ["a: {b: [{n: 1}, {n: 2}]}\n", "a: {b: [{n: 1}], c: {d: {n: 3}}}\n"]
)
def test_any_depth_asks_for_no_value_at_each(text: str) -> None:
    assert judge(text, {"path": "**.n"}, "a.yaml").outcome is Outcome.PASS


@pytest.mark.parametrize(
    "front",
    [
        '+++\ntitle = "T"\n# a remark\n+++\n',
        "---\ntitle: T\n# a remark\n---\n",
        '{\n  "title": "T",\n  "body": "\\n# A"\n}\n',
        "+++\n+++\n",
    ],
)
def test_front_matter_is_no_text(front: str) -> None:
    params = {"headings": {"single_title": True}}
    assert judge(front + "\nwords\n", params).outcome is Outcome.FAIL
    assert judge(front + "\n# Title\n", params).outcome is Outcome.PASS
    assert judge(front + "\nTODO\n", {"prose": {"placeholders": False}}).location is not None


@pytest.mark.parametrize("start", ["{\nno json\n}\n", "+++\n", "{% include x %}\n"])
def test_what_only_begins_like_front_matter_is_text(start: str) -> None:
    assert (
        judge(start + "\n# Title\n", {"headings": {"single_title": True}}).outcome is Outcome.PASS
    )
