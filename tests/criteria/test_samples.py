"""Rules put to the test by their own samples, through the core and the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.criteria.author.samples import SampleVerdict, try_samples
from tests.criteria.writing import REGISTRY, load, rule, rules, write

TITLE = '{type: content, search: "^# "}'
# name: (check, good samples, bad samples, the rule's verdict, the verdicts of the samples)
CASES = {
    "validated": (TITLE, ["# T"], ["T"], "validated", "validated reported"),
    "bad samples only": (TITLE, [], ["T", "x"], "reported", "reported reported"),
    "noisy": (TITLE, ["T", "# T"], ["T"], "noisy", "noisy validated reported"),
    "missing": (TITLE, ["# T"], ["# x"], "missing", "validated missing"),
    "noisy before missing": (TITLE, ["T"], ["# x"], "noisy", "noisy missing"),
    "none": (TITLE, [], [], "none", ""),
    "prose": ("There is a title", ["# T"], ["T"], "unclear", "unclear unclear"),
    "a command that is not there": (
        "{type: executable, command: no-such-command-anywhere}",
        ["# T"],
        ["T"],
        "unclear",
        "unclear unclear",
    ),
    "a command that judges": (
        "{type: executable, command: 'grep -q T \"$PYTEST_REFLEX_ARTIFACT\"'}",
        ["T"],
        ["x"],
        "validated",
        "validated reported",
    ),
    "all checks have to hold": (
        f'[{TITLE}, {{type: content, search: "x"}}]',
        ["# x"],
        ["# T", "x"],
        "validated",
        "validated reported reported",
    ),
}


@pytest.mark.parametrize(("check", "good", "bad", "verdict", "verdicts"), CASES.values(), ids=CASES)
def test_samples_have_their_verdicts(
    tmp_path: Path, check: str, good: list[str], bad: list[str], verdict: str, verdicts: str
) -> None:
    samples = json.dumps({"good": good, "bad": bad})
    criteria = load(tmp_path, rules(rule(check=check, samples=samples)))
    (tried,) = try_samples(criteria, criteria.rules, REGISTRY, tmp_path)
    assert tried.verdict == verdict
    assert " ".join(one.verdict for one in tried.samples) == verdicts


@pytest.mark.parametrize("name", ["base", "documentation"])
def test_the_samples_of_the_stock_templates_hold(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["criteria", "test", name, "--strict", "--json"]) == 0
    assert {one["verdict"] for one in json.loads(capsys.readouterr().out)["rules"]} == {"validated"}


def test_variables_and_commands_see_what_an_artifact_would(tmp_path: Path) -> None:
    check = "{type: executable, command: 'test \"$PYTEST_REFLEX_VAR_WORD\" = hey && test -d docs'}"
    (tmp_path / "docs").mkdir()
    text = rules(rule(check=check, samples="{good: [x]}"), head="vars: {word: hey}\n")
    criteria = load(tmp_path, text)
    (tried,) = try_samples(criteria, criteria.rules, REGISTRY, tmp_path)
    assert tried.verdict is SampleVerdict.VALIDATED


PAGE = rules(
    rule("a.docs.title", samples='{good: ["T"], bad: ["T"]}'),
    rule("a.docs.list", check='{type: content, search: "^- "}', samples='{bad: ["- x"]}'),
    rule("a.docs.bare"),
)


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write(tmp_path, "page.yaml", PAGE)


def test_what_is_wrong_is_told_with_rule_place_and_sample(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["criteria", "test", "page.yaml"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "a.docs.title  noisy      0/1     1/1" in lines
    assert "a.docs.list   missing    0/0     0/1" in lines
    assert "a.docs.bare   none       0/0     0/0" in lines
    told = "a.docs.list: bad sample 1 is missing: a bad sample passes (page.yaml:7:5)"
    start = lines.index(told)
    assert lines[start + 1 : start + 3] == ["    said: pattern found at line 1", "    text: - x"]
    tail = "3 rules, 3 samples: 1 reported, 1 noisy, 1 missing; 1 rule without samples"
    assert lines[-1] == tail


def test_one_rule_can_be_chosen(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["criteria", "test", "page.yaml", "a.docs.bare"]) == 0
    assert capsys.readouterr().out.endswith("1 rule, 0 samples; 1 rule without samples\n")
    assert main(["criteria", "test", "page.yaml", "a.docs.lists"]) == 4
    told = "page has no rule 'a.docs.lists' (did you mean a.docs.list?)"
    assert told in capsys.readouterr().err


def test_strict_wants_samples_of_both_kinds(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["criteria", "test", "page.yaml", "a.docs.bare", "--strict"]) == 1
    told = "strict: a good or a bad sample is missing: a.docs.bare"
    assert capsys.readouterr().out.splitlines()[-1] == told


WORKFLOW = "on: push\njobs: {a: {runs-on: x, steps: [{run: make}]}}\n"
EACH = "{type: content, search: '^# ', files: '*.md', each: true}"
# name: (check, good samples, bad samples)
WITH_FILES: dict[str, tuple[str, list[object], list[object]]] = {
    "the name of a file decides": (
        "{type: structure, configuration: syntax}",
        [{"file": "a.toml", "text": "[a]\nb = 1\n"}],
        [{"file": "a.json", "text": "[a]\nb = 1\n"}, {"file": "a.toml", "text": "a: 1\n"}],
    ),
    "the folder of a file decides": (
        "{type: structure, configuration: required}",
        [{"file": ".github/workflows/ci.yml", "text": WORKFLOW}],
        [{"file": ".github/workflows/ci.yml", "text": "a: 1\n"}],
    ),
    "all files of a folder are judged": (
        EACH,
        [{"files": {"a.md": "# A", "b/c.md": "# C", "b/d.txt": "none"}}],
        [{"files": {"a.md": "# A", "b/c.md": "C"}}, {"files": {}}],
    ),
    "a sample leaves nothing for the next": (
        EACH,
        [{"files": {"a.md": "# A"}}],
        [{"files": {"b.txt": "x"}}, {"files": {"a.md/b.md": "x"}}],
    ),
    "a command sees the folder": (
        "{type: executable, command: 'test -f \"$PYTEST_REFLEX_ARTIFACT/a/b\"'}",
        [{"files": {"a/b": ""}}],
        [{"files": {"a": ""}}],
    ),
}


@pytest.mark.parametrize(("check", "good", "bad"), WITH_FILES.values(), ids=WITH_FILES)
def test_files_and_folders_are_judged_as_what_they_are(
    tmp_path: Path, check: str, good: list[object], bad: list[object]
) -> None:
    samples = json.dumps({"good": good, "bad": bad})
    criteria = load(tmp_path, rules(rule(check=check, samples=samples)))
    (tried,) = try_samples(criteria, criteria.rules, REGISTRY, tmp_path)
    assert [one.verdict for one in tried.samples] == ["validated"] * len(good) + ["reported"] * len(
        bad
    )


def test_files_of_a_sample_are_shown_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    samples = "{good: [{files: {a/b.md: 'B'}}, {files: {}}], bad: [{file: c.md, text: '# C'}]}"
    write(tmp_path, "page.yaml", rules(rule(check=EACH, samples=samples)))
    assert main(["criteria", "test", "page.yaml"]) == 1
    out = capsys.readouterr().out
    assert "    said: There is a title: a/b.md: pattern not found\n    a/b.md: B\n" in out
    assert "    said: no file of sample matches *.md\n    text: an empty folder\n" in out
    assert main(["criteria", "test", "page.yaml", "--json"]) == 1
    (told,) = json.loads(capsys.readouterr().out)["rules"]
    assert told["samples"][0]["files"] == {"a/b.md": "B"}
    assert (told["samples"][2]["file"], told["samples"][2]["text"]) == ("c.md", "# C")


MENDING = {
    "all": ("{insert_text: {text: '# T', at: start}}", "a.docs.title: its fix fixes 2 of 2", 2),
    "none": (
        "{append: {text: x}}",
        "warning: a.docs.title: its fix fixes none of 2",
        0,
    ),
    "some": ("{replace: {search: '^y', with: '# y'}}", "a.docs.title: its fix fixes 1 of 2", 1),
}


@pytest.mark.parametrize(("fix", "told", "mended"), MENDING.values(), ids=MENDING)
def test_the_fix_of_a_rule_is_tried_on_its_bad_samples(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], fix: str, told: str, mended: int
) -> None:
    text = rules(rule(check=TITLE, samples="{good: ['# T'], bad: [x, y]}", fix=fix))
    path = str(write(tmp_path, "page.yaml", text))
    assert main(["criteria", "test", path]) == 0
    assert told in capsys.readouterr().out
    assert main(["criteria", "test", path, "--json"]) == 0
    samples = json.loads(capsys.readouterr().out)["rules"][0]["samples"]
    assert sum(sample["fixed"] for sample in samples[1:]) == mended
    assert "fixed" not in samples[0]


def test_a_fix_that_is_not_safe_is_not_tried(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fix = "{append: {text: x}, safe: false}"
    text = rules(rule(check=TITLE, samples="{good: ['# T'], bad: [x]}", fix=fix))
    assert main(["criteria", "test", str(write(tmp_path, "page.yaml", text))]) == 0
    assert "fixes" not in capsys.readouterr().out
