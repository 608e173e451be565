"""Rules are shown to be able to fail; those that cannot are found out."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from pytest_reflex.criteria.author.fault_injection import example_of
from pytest_reflex.criteria.author.mutants import mutants
from pytest_reflex.criteria.author.prove import Original, Proof, Prover, RuleProof
from pytest_reflex.model.enums import Outcome
from tests.criteria.writing import REGISTRY, load, rule, rules, write

GOOD = ["# Title\n\nSome words, see [there](x.md).\n\n## Use\n\n```sh\nmake\n```\n"]
DATA = ['{"name": "x", "port": 80}\n']


def proof_of(
    folder: Path,
    check: str,
    good: Sequence[str] = (),
    bad: Sequence[str] = (),
    *,
    run_commands: bool = False,
    seeds: tuple[Original, ...] = (),
) -> RuleProof:
    samples = json.dumps({"good": list(good), "bad": list(bad)})
    criteria = load(folder, rules(rule(check=check, samples=samples)))
    prover = Prover(
        criteria=criteria, registry=REGISTRY, root=folder, run_commands=run_commands, seeds=seeds
    )
    (proof,) = prover.prove(criteria.rules)
    return proof


# what cannot fail
VACUOUS = {
    "anything at all": "{type: content, search: '.*'}",
    "anything on one line": "{type: content, search: '(?s)\\A.*\\Z'}",
    "the start of a line": "{type: content, search: '^'}",
    "the start of the text": "{type: content, search: '\\A'}",
    "the end of the text": "{type: content, search: '\\Z'}",
    "letters or none": "{type: content, search: '[a-z]*'}",
    "an optional word": "{type: content, search: '(Title)?'}",
    "an empty alternative": "{type: content, search: 'Licence|'}",
    "an absence that is always": "{type: content, search: 'a\\Ab', negate: true}",
    "a contradiction": "{type: content, search: '(?!x)x', negate: true}",
    "more than there will be": "{type: content, search: zebra, max_count: 1000000}",
    "up to any number": "{type: structure, count: {paragraphs: {max: 1000000}}}",
    "a sentence of any length": "{type: structure, prose: {max_sentence: 1000000}}",
    "one of two, one of which holds": (
        "{any_of: [{type: content, search: Licence}, {type: content, search: 'x*'}]}"
    ),
    "all of two that hold": (
        "[{type: content, search: '.*'}, {type: structure, count: {links: {max: 1000000}}}]"
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("check", VACUOUS.values(), ids=VACUOUS)
def test_vacuous_rule_is_caught(tmp_path: Path, check: str) -> None:
    proof = proof_of(tmp_path, check, GOOD, ["# Other\n"])
    assert (proof.proof, set(proof.failed_on)) == (Proof.VACUOUS, {""})
    assert proof.tried > 10


def test_command_that_always_succeeds_is_vacuous(tmp_path: Path) -> None:
    check = "{type: executable, command: 'exit 0'}"
    proof = proof_of(tmp_path, check, ["x\n"], ["y\n"], run_commands=True)
    assert proof.proof is Proof.VACUOUS


# name: (check, good samples, whether it is a rule of absence, on what it fails first)
PROVED = {
    "a title": ("{type: content, search: '^# '}", GOOD, False, "without what matched"),
    "a word": ("{type: content, search: WORDS, ignore_case: true}", GOOD, False, "without what"),
    "a word in a section": (
        "{type: content, search: make, section: Use}",
        GOOD,
        False,
        "without what matched",
    ),
    "no word": ("{type: content, search: '\\bsecret: [a-f]{3}\\d+'}", [], False, ""),
    "words left to do": ("{type: content, search: T0D0, negate: true}", GOOD, True, "planted at"),
    "no pattern": (
        "{type: content, search: '^\\s*(?:key|pass)[:=]\\s*[^\\s]{4}', negate: true}",
        GOOD,
        True,
        "a match planted at the end (1)",
    ),
    "at most two": ("{type: content, search: zebra, max_count: 2}", GOOD, True, "the end (3)"),
    "nothing in a section": (
        "{type: content, search: zebra, section: Use, negate: true}",
        GOOD,
        True,
        "a match planted at the end",
    ),
    "a short text": ("{type: content, search: '(?s)\\A.{0,300}\\Z'}", GOOD, True, "with"),
    "a heading": ("{type: structure, headings: {required: [Use]}}", GOOD, False, "section"),
    "a block": ("{type: structure, code_blocks: {min_count: 1}}", GOOD, False, "without"),
    "a link": ("{type: structure, links: {min_count: 1}}", GOOD, False, "without"),
    "a value": ("{type: structure, path: port}", DATA, False, "without port"),
    "a type": ("{type: structure, path: port, value_type: integer}", DATA, False, "without port"),
    "no value": ("{type: structure, path: debug, exists: false}", DATA, None, "debug planted"),
    "a schema": (
        "{type: structure, json_schema: {properties: {port: {maximum: 100}}}}",
        DATA,
        False,
        "",
    ),
    "one of two": (
        "{any_of: [{type: content, search: Licence}, {type: content, search: Title}]}",
        GOOD,
        False,
        "without what matched",
    ),
}


@pytest.mark.parametrize(("check", "good", "absence", "first"), PROVED.values(), ids=PROVED)
def test_rule_that_can_fail_is_proved_from_its_good_sample(
    tmp_path: Path, check: str, good: list[str], absence: bool | None, first: str
) -> None:
    proof = proof_of(tmp_path, check, good, [] if good else ["x\n"])
    assert proof.proof is Proof.PROVED
    assert absence in (proof.is_absence, None)
    assert first in (proof.failed_on[0] or "")


EMPTY = "the empty artifact"
# What fails on the empty artifact alone, and what bounds an artifact from above.
ENDS = {
    "one character": ("{type: content, search: '(?s).'}", GOOD, EMPTY),
    "not blank": ("{type: content, search: '\\S'}", GOOD, EMPTY),
    "a file that is not empty": (
        "{type: executable, command: 'test -s \"$PYTEST_REFLEX_ARTIFACT\"'}", GOOD, EMPTY,
    ),
    "few paragraphs": ("{type: structure, count: {paragraphs: {max: 500}}}", GOOD, "the text"),
    "a short text": ("{type: content, search: '(?s)\\A.{0,9000}\\Z'}", GOOD, "the text"),
    "few words, by a command": (
        "{type: executable, command: 'test $(wc -w < \"$PYTEST_REFLEX_ARTIFACT\") -lt 800'}",
        GOOD,
        "the text",
    ),
    "few links": ("{type: structure, count: {links: {max: 90}}}", GOOD, "the text"),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize(("check", "good", "on"), ENDS.values(), ids=ENDS)
def test_nothing_and_a_grown_artifact_are_tried_last(
    tmp_path: Path, check: str, good: list[str], on: str
) -> None:
    proof = proof_of(tmp_path, check, good, run_commands=True)
    assert proof.proof is Proof.PROVED
    assert on in (proof.failed_on[0] or "")


def test_nothing_proves_no_check_that_passes_nowhere(tmp_path: Path) -> None:
    proof = proof_of(tmp_path, "{type: content, search: nowhere}", GOOD)
    assert (proof.proof, proof.failed_on) == (Proof.UNPROVEN, ("",))


PATTERNS = {
    "repeats of repeats": r"((a{1000}){1000}){1000}",
    "runaway": r"(a+)+$(?!\n)b",
    "nothing": r"x\Ay",
}


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
def test_b027_pattern_of_which_no_match_can_be_made_plants_nothing(pattern: str) -> None:
    assert example_of(pattern) == ""


@pytest.mark.parametrize(
    "pattern", [r"^\s*[^\W\d_]+\b(?P<x>[!-/])(?P=x)\d{2,}?$", r"[^\x00-\x7f]", r"(?i:a|b)c*"]
)
def test_match_is_made_from_a_pattern(pattern: str) -> None:
    assert re.search(pattern, example_of(pattern), re.MULTILINE)


@pytest.mark.parametrize(
    "text",
    ["2026-01-01: x\n", "? [a, b]\n: c\n", "- 1\n- - 2\n", "- [ ] x\n\n> ```json\n> {}\n> ```\n"],
)
def test_mutants_of_odd_texts_differ_and_are_never_blank(text: str) -> None:
    found = [
        mutant.text for mutant in mutants(text, lines=[1, 99], paths=["", "**", "a.b[0]", "["])
    ]
    assert len(set(found)) == len(found) > 5
    assert text not in found
    assert all(one.strip() for one in found)


def test_bad_sample_proves_what_no_mutant_does(tmp_path: Path) -> None:
    proof = proof_of(tmp_path, "{type: content, search: '\\S'}", GOOD, [" \n"])
    assert (proof.proof, proof.failed_on) == (Proof.PROVED, ("bad sample 1",))


def test_artifact_that_passes_takes_the_place_of_samples(tmp_path: Path) -> None:
    check = "{type: structure, links: {targets: true, min_count: 1}}"
    (tmp_path / "x.md").write_text("x")
    seed = Original("guide.md", GOOD[0], "guide.md", tmp_path)
    assert proof_of(tmp_path, check).proof is Proof.UNPROVEN
    proof = proof_of(tmp_path, check, seeds=(seed,))
    assert proof.proof is Proof.PROVED
    assert (proof.failed_on[0] or "").startswith("guide.md, section")


def test_commands_are_not_run_unless_asked_for(tmp_path: Path) -> None:
    check = "{type: executable, command: 'touch ran; grep -q Title \"$PYTEST_REFLEX_ARTIFACT\"'}"
    proof = proof_of(tmp_path, check, GOOD)
    assert (proof.proof, proof.failed_on, proof.empty) == (Proof.NOT_RUN, (None,), None)
    assert not (tmp_path / "ran").exists()
    assert proof_of(tmp_path, check, GOOD, run_commands=True).proof is Proof.PROVED


def test_check_beside_one_that_fails_is_told_where_it_never_does(tmp_path: Path) -> None:
    check = "[{type: content, search: Title}, {type: content, search: '.*'}]"
    proof = proof_of(tmp_path, check, GOOD)
    assert (proof.proof, proof.idle) == (Proof.PROVED, (2,))


def test_check_that_cannot_judge_the_empty_artifact_is_unclear(tmp_path: Path) -> None:
    check = "{type: executable, command: no-such-command-anywhere}"
    proof = proof_of(tmp_path, check, GOOD, run_commands=True)
    assert proof.proof is Proof.UNCLEAR
    assert "no-such-command-anywhere" in proof.message


def test_the_same_rule_is_tried_in_the_same_way(tmp_path: Path) -> None:
    check = "{type: structure, prose: {one_style: true}}"
    first, second = (proof_of(tmp_path, check, GOOD).to_json() for _ in range(2))
    assert first == second


PAGE = rules(
    rule("a.docs.title", samples=json.dumps({"good": GOOD})),
    rule("a.docs.any", check='{type: content, search: ".*"}', samples='{good: ["# T"]}'),
    rule("a.docs.bare"),
    rule("a.docs.run", check="{type: executable, command: 'true'}"),
)


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write(tmp_path, "page.yaml", PAGE)


def test_vacuous_rule_is_told_with_its_place(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["criteria", "prove", "page.yaml"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].startswith("a.docs.title  proved    fails       1")
    start = lines.index("a.docs.any is vacuous: it passes whatever is removed, garbled or inserted")
    assert lines[start + 1 : start + 3] == [
        "(page.yaml:7:5)",
        "    = make the check stricter, or give a bad sample that it fails on",
    ]
    assert lines[-1] == "4 rules: 1 proved, 1 vacuous, 1 unproven, 1 not run"


def test_strict_wants_every_rule_proved(tmp_path: Path, page: Path) -> None:
    write(tmp_path, "bare.yaml", rules(rule()))
    write(tmp_path, "good.md", GOOD[0])
    assert main(["criteria", "prove", "bare.yaml"]) == 0
    assert main(["criteria", "prove", "bare.yaml", "--strict"]) == 1
    assert main(["criteria", "prove", "bare.yaml", "good.md", "--strict"]) == 0


FOLDER: dict[str, object] = {
    "files": {"a.md": "# A\n\nText.\n", "b/c.md": "# C\n\nText.\n", "d.txt": "x"}
}
ALONE: dict[str, object] = {"files": {"a.md": "# A\n", "d.txt": "x"}}
# name: (check, good sample, what it has to come to, on what it fails)
FOLDERS: dict[str, tuple[str, dict[str, object], Proof, str]] = {
    "a match that is taken away": (
        "{type: content, search: '^# ', files: '*.md', each: true}",
        FOLDER,
        Proof.PROVED,
        "good sample 1: a.md, without what matched",
    ),
    "a match in the one file that is meant": (
        "{type: content, search: '^# C', files: b/c.md}",
        FOLDER,
        Proof.PROVED,
        "good sample 1: b/c.md, without what matched",
    ),
    "a match that is planted": (
        "{type: content, search: TODO, negate: true, files: '*.md'}",
        FOLDER,
        Proof.PROVED,
        "good sample 1: a.md, a match planted at the end (1)",
    ),
    "globs of a variable": (
        "{type: content, search: '^# ', files: {var: which}, each: true}",
        FOLDER,
        Proof.PROVED,
        "good sample 1: b/c.md, without what matched",
    ),
    "a match that several files have": (
        "{type: content, search: '^Text', files: '*.md'}",
        FOLDER,
        Proof.PROVED,
        "good sample 1: a.md, without what matched, and 1 more changed with it",
    ),
    "a match that more files have than are changed one by one": (
        "{type: content, search: '^Text', files: '*.md'}",
        {"files": {f"{name}.md": "# T\n\nText.\n" for name in "abcdefghijkl"}},
        Proof.PROVED,
        "good sample 1: a.md, without what matched, and 11 more changed with it",
    ),
    "a file that has to be there": (
        "{type: executable, command: 'test -e \"$PYTEST_REFLEX_ARTIFACT/b/c.md\"'}",
        FOLDER,
        Proof.PROVED,
        "good sample 1: b/c.md, removed",
    ),
    "something in all of several files is in every one but the empty": (
        "{type: content, search: '(?s).', files: '*.md', each: true}",
        FOLDER,
        Proof.PROVED,
        "the empty artifact",
    ),
    "something in one file is in every one but the empty": (
        "{type: content, search: '(?s).', files: '*.md', each: true}",
        ALONE,
        Proof.PROVED,
        "the empty artifact",
    ),
    "anything": (
        "{type: content, search: 'x*', files: '*.md', each: true}",
        ALONE,
        Proof.PROVED,
        "the empty artifact",
    ),
}


@pytest.mark.parametrize(("check", "good", "proof", "on"), FOLDERS.values(), ids=FOLDERS)
def test_folder_is_changed_in_one_file_after_the_other_and_in_all(
    tmp_path: Path, check: str, good: dict[str, object], proof: Proof, on: str
) -> None:
    samples = json.dumps({"good": [good]})
    text = rules(rule(check=check, samples=samples), head="vars: {which: [b/c.md]}\n")
    criteria = load(tmp_path, text)
    prover = Prover(criteria=criteria, registry=REGISTRY, root=tmp_path, run_commands=True)
    (found,) = prover.prove(criteria.rules)
    assert (found.proof, found.failed_on) == (proof, (on,))
    assert found.empty in (Outcome.FAIL, Outcome.ERROR)


def test_sample_keeps_its_name_when_it_is_changed(tmp_path: Path) -> None:
    check = "{type: structure, configuration: syntax}"
    samples = json.dumps({"good": [{"file": "a.toml", "text": "[a]\nb = 1\n"}]})
    criteria = load(tmp_path, rules(rule(check=check, samples=samples)))
    (found,) = Prover(criteria=criteria, registry=REGISTRY, root=tmp_path).prove(criteria.rules)
    assert (found.proof, found.empty) == (Proof.PROVED, Outcome.FAIL)


def test_folder_of_the_user_proves_a_rule_and_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    check = "{type: structure, headings: {single_title: true}, files: '*.md', each: true}"
    write(tmp_path, "page.yaml", rules(rule(check=check)))
    write(tmp_path, "docs/a.md", "# A\n")
    (tmp_path / "docs" / "logo.png").write_bytes(b"\x89PNG\xff\0")
    assert main(["criteria", "prove", "page.yaml", "docs", "--strict"]) == 0
    assert "docs: a.md, without headings" in capsys.readouterr().out
    assert (tmp_path / "docs" / "a.md").read_text() == "# A\n"


def test_bytes_of_a_folder_are_judged_as_they_are(tmp_path: Path) -> None:
    check = "{type: executable, command: 'grep -q PNG \"$PYTEST_REFLEX_ARTIFACT/a.png\"'}"
    data = b"\x89PNG\xff\0"
    seed = Original("docs", "", "", None, {"a.png": data.decode("utf-8", "surrogateescape")})
    proof = proof_of(tmp_path, check, seeds=(seed,), run_commands=True)
    assert (proof.proof, proof.failed_on) == (Proof.PROVED, ("the empty artifact",))


STOCK = "base api-spec code configuration documentation guide reference changelog adr"


@pytest.mark.long
@pytest.mark.parametrize("name", STOCK.split())
def test_no_rule_of_a_stock_template_is_vacuous(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = Path(__file__).parents[1] / "templates" / "corpus" / name
    documents = [str(path) for path in sorted(corpus.glob("*.*"))]
    assert main(["criteria", "prove", name, *documents, "--strict", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {one["proof"] for one in told["rules"]} == {"proved"}
