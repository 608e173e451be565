"""`criteria fix`: fixes of failing rules in place, round after round, and nothing else."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from pytest_reflex.cli.main import main
from tests.criteria.writing import load, problems, rule, rules, write

pytestmark = pytest.mark.long

THANKS = rule(
    "a.docs.thanks",
    check="{type: content, search: '^## Thanks$'}",
    fix="{insert_section: {heading: '## Thanks', text: To all.}}",
)
TAGGED = rule(
    "a.docs.tagged",
    check="{type: structure, code_blocks: {tagged: true}}",
    fix="{tag_fences: {language: text}}",
)
UNSAFE = rule(
    "a.docs.colour",
    check="{type: content, search: color, negate: true}",
    fix="{replace: {search: color, with: colour}, safe: false}",
)
HELPLESS = rule(
    "a.docs.more",
    check="{type: content, search: zebra}",
    fix="{append: {text: No striped horse.}}",
)
TEXT = "\ufeff# T\r\n\r\ncolor  \r\n\r\n```\r\nmake\r\n```\r\n"


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "rules.yaml", rules(THANKS, TAGGED))
    return write(tmp_path, "page.md", TEXT)


def fix(*options: str) -> int:
    return main(["criteria", "fix", "page.md", "--criteria", "rules.yaml", *options])


def test_failing_rules_are_mended_in_place_and_the_rest_stays(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page.chmod(0o640)
    assert fix() == 0
    expected = TEXT.replace("```\r\nmake", "```text\r\nmake") + "\r\n## Thanks\r\n\r\nTo all.\r\n"
    assert page.read_bytes().decode() == expected
    assert page.stat().st_mode & 0o777 == 0o640
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["FIXED       a.docs.thanks", "FIXED       a.docs.tagged"]
    assert lines[-1] == "WRITTEN TO  page.md"


def test_second_run_changes_nothing(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fix()
    first, stamp = page.read_bytes(), page.stat().st_mtime_ns
    capsys.readouterr()
    assert fix() == 0
    assert (page.read_bytes(), page.stat().st_mtime_ns) == (first, stamp)
    assert capsys.readouterr().out.startswith("NOTHING     no fix changes anything")


def test_diff_writes_nothing_and_is_what_patch_takes(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if not shutil.which("patch"):
        pytest.skip("the program patch is not here")
    page.write_bytes(b"# T\n\nEnd")
    assert fix("--diff") == 0
    diff = capsys.readouterr().out
    assert page.read_bytes() == b"# T\n\nEnd"
    subprocess.run(["patch", "-p1", "-s"], input=diff, text=True, check=True)
    patched = page.read_bytes()
    page.write_bytes(b"# T\n\nEnd")
    assert fix() == 0
    assert page.read_bytes() == patched


def test_unsafe_fix_is_applied_on_request_only(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(page.parent, "rules.yaml", rules(UNSAFE))
    assert fix() == 1
    assert page.read_bytes().decode() == TEXT
    told = capsys.readouterr().out
    assert "UNSAFE      a.docs.colour has an unsafe fix; --unsafe applies it" in told
    assert "NOTHING     no fix was applied" in told
    assert fix("--unsafe") == 0
    assert page.read_bytes().decode() == TEXT.replace("color", "colour")


def test_fix_that_does_not_help_is_left_out(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(page.parent, "rules.yaml", rules(HELPLESS, THANKS))
    assert fix("--json") == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["fixed"], told["no_help"]) == (["a.docs.thanks"], [])
    assert (told["passed"], told["written"]) == (False, True)
    assert told["not_fixed"] == {"a.docs.more": "its fix does not help: it still fails with it"}
    assert "horse" not in page.read_text()


def test_fix_that_helps_another_rule_alone_is_applied(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    striped = rule("a.docs.striped", check="{type: content, search: striped}")
    write(page.parent, "rules.yaml", rules(HELPLESS, striped))
    assert fix("--json") == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["fixed"], told["no_help"]) == (["a.docs.more"], ["a.docs.more"])
    assert page.read_text(encoding="utf-8").endswith("No striped horse.\n")


def test_fix_that_makes_another_rule_block_is_left_out(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    no_todo = rule(
        "a.docs.todo",
        check="{type: content, search: TODO, negate: true}",
        fix="{replace: {search: '(?s)TODO.*', with: ''}}",
    )
    usage = rule("a.docs.usage", check="{type: content, search: '## Usage'}")
    write(page.parent, "rules.yaml", rules(no_todo, usage, THANKS))
    page.write_text("# T\n\nTODO\n\n## Usage\n")
    assert fix() == 1
    assert page.read_text() == "# T\n\nTODO\n\n## Usage\n\n## Thanks\n\nTo all.\n"
    told = " ".join(capsys.readouterr().out.split())
    assert "NOT FIXED a.docs.todo: its fix makes a.docs.usage fail" in told


def test_fix_that_lowers_the_score_is_left_out(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    heavy = {"severity": "warn", "weight": 5, "check": "{type: content, search: Keep}"}
    light = {"severity": "warn", "weight": 1, "check": "{type: content, search: Gone}"}
    swap = "{replace: {search: Keep, with: Gone}}"
    write(
        page.parent,
        "rules.yaml",
        rules(rule("a.docs.heavy", **heavy), rule("a.docs.light", **light, fix=swap), THANKS),
    )
    page.write_text("Keep\n")
    fix()
    assert page.read_text() == "Keep\n\n## Thanks\n\nTo all.\n"
    assert "its fix makes a.docs.heavy fail" in " ".join(capsys.readouterr().out.split())


def test_what_a_fix_brings_to_light_is_mended_as_well(page: Path) -> None:
    block = "{insert_section: {heading: '## Thanks', text: \"```\\nx\\n```\"}}"
    check = "{type: content, search: '^## Thanks$'}"
    write(page.parent, "rules.yaml", rules(TAGGED, rule("b.docs.thanks", check=check, fix=block)))
    page.write_bytes(b"# T\n")
    assert fix() == 0
    assert page.read_bytes() == b"# T\n\n## Thanks\n\n```text\nx\n```\n"


def test_fixes_that_undo_each_other_write_nothing(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pair = [
        rule(
            f"a.docs.{word}",
            check=f"{{type: content, search: {word}}}",
            fix=f"{{replace: {{search: {other}, with: {word}}}}}",
        )
        for word, other in (("left", "right"), ("right", "left"))
    ]
    write(page.parent, "rules.yaml", rules(*pair))
    page.write_bytes(b"left\n")
    assert fix() == 4
    assert page.read_bytes() == b"left\n"
    assert "the fixes of a.docs.right, a.docs.left undo each other" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["fix", "prove"])
def test_file_is_known_by_where_it_lies(page: Path, verb: str) -> None:
    command = (
        'case "$PYTEST_REFLEX_ARTIFACT" in '
        '*/.github/workflows/ci.yml) grep -q on: "$PYTEST_REFLEX_ARTIFACT";; *) exit 1;; esac'
    )
    check = json.dumps({"type": "executable", "command": command})
    write(page.parent, "rules.yaml", rules(rule("a.ci.place", check=check)))
    write(page.parent, ".github/workflows/ci.yml", "on: push\n")
    artifact = ".github/workflows/ci.yml"
    if verb == "fix":
        assert main(["criteria", "fix", artifact, "--criteria", "rules.yaml"]) == 0
        return
    options = ["rules.yaml", artifact, "--run-commands", "--strict"]
    assert main(["criteria", "prove", *options]) == 0


def test_folder_is_not_fixed(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["criteria", "fix", ".", "--criteria", "rules.yaml"]) == 4
    assert "no result can be written to .: it is a folder" in capsys.readouterr().err


def test_b027_runaway_fix_is_told_and_the_run_goes_on(
    page: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_reflex.fixes.text.SECONDS", 0.3)
    check = "{type: content, search: TODO, negate: true}"
    away = "{replace: {search: '(?=a)(a+)+$', with: x}}"
    write(page.parent, "rules.yaml", rules(rule("a.docs.away", check=check, fix=away), THANKS))
    page.write_bytes(b"TODO\n" + b"a" * 50 + b"b\n")
    assert fix() == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "FIXED a.docs.thanks" in out
    assert "NOT FIXED a.docs.away: replace: '(?=a)(a+)+$' was not searched: the search ran" in out


def test_variables_of_a_fix_are_put_in_their_places(tmp_path: Path) -> None:
    wanted = "[{append: {text: {var: owner}}}, {set: {path: a, value: {deep: [{var: most}]}}}]"
    text = rules(rule(fix=wanted), head="vars: {owner: Ann, most: 3}\n")
    said, deep = load(tmp_path, text, variables={"owner": "Bob"}).rules[0].fixes
    assert said.params == {"text": "Bob"}
    assert deep.params == {"path": "a", "value": {"deep": [3]}}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("most", "append: text must be text, not 3"),
        ("mots", "there is no variable 'mots' (did you mean most?)"),
    ],
)
def test_variable_that_does_not_fit_a_fix_is_told(tmp_path: Path, name: str, message: str) -> None:
    text = rules(rule(fix=f"{{append: {{text: {{var: {name}}}}}}}"), head="vars: {most: 3}\n")
    told = problems(tmp_path, text)
    assert message in told[0]
    assert told[0].startswith("rules.yaml:7:")


TIDY = """\
commands:
  tidy: {argv: [python3, tidy.py, '{file}'], args: [file]}
"""
TIDIED = rule(
    "a.docs.tidy",
    check="{type: content, search: ' +$', negate: true}",
    fix="{format: {command: tidy}, safe: true}",
)
STRIPS = """\
import pathlib, sys
page = pathlib.Path(sys.argv[1])
lines = page.read_text().splitlines()
page.write_text("".join(line.rstrip() + "\\n" for line in lines))
"""


def test_formatter_mends_in_place_and_a_second_run_changes_nothing(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(page.parent, "tidy.py", STRIPS)
    write(page.parent, "rules.yaml", rules(TIDIED, head=TIDY))
    page.write_text("# T  \n\nx \n")
    assert fix() == 0
    assert page.read_text() == "# T\n\nx\n"
    capsys.readouterr()
    assert fix() == 0
    assert capsys.readouterr().out.startswith("NOTHING     no fix changes anything")


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("raise SystemExit('no paper')", "format: tidy: exit status 1: no paper"),
        (
            "import sys; open(sys.argv[1], 'a').write('more \\n')",
            "format: tidy changes its own result, without an end",
        ),
        (
            "import sys; open(sys.argv[1], 'w').write('other \\n')",
            "its fix does not help: it still fails with it",
        ),
    ],
    ids=["crash", "unsettled", "no help"],
)
def test_formatter_that_does_not_mend_leaves_the_file_and_is_told(
    page: Path, capsys: pytest.CaptureFixture[str], program: str, reason: str
) -> None:
    write(page.parent, "tidy.py", program)
    write(page.parent, "rules.yaml", rules(TIDIED, head=TIDY))
    assert fix("--json") == 1
    assert json.loads(capsys.readouterr().out)["not_fixed"] == {"a.docs.tidy": reason}
    assert page.read_bytes().decode() == TEXT


MEDDLERS = {
    "it writes the artifact": ("open('page.md', 'a').write('more')", "page.md was changed"),
    "it writes both": (
        "[open(one, 'w').write('# T\\n') for one in ('page.md', sys.argv[1])]",
        "page.md was changed",
    ),
    "it removes the artifact": ("os.remove('page.md')", "page.md was removed"),
    "it fails as well": ("os.remove('page.md'); sys.exit(3)", "page.md was removed"),
    "it writes the criteria": (
        "open('rules.yaml', 'a').write('# more\\n'); open(sys.argv[1], 'w').write('# T\\n')",
        "rules.yaml was changed",
    ),
}


@pytest.mark.parametrize(("program", "told"), MEDDLERS.values(), ids=MEDDLERS)
def test_formatter_that_meddles_with_the_files_themselves_is_noticed(
    page: Path, capsys: pytest.CaptureFixture[str], program: str, told: str
) -> None:
    write(page.parent, "tidy.py", f"import os, sys\n{program}\n")
    write(page.parent, "rules.yaml", rules(TIDIED, head=TIDY))
    assert fix("--json") == 4
    said = capsys.readouterr()
    assert said.out == ""
    assert f"{told} while the artifact was fixed, by a formatter" in said.err
    assert "nothing is written" in said.err
    if told.startswith("rules"):
        assert page.read_bytes().decode() == TEXT


def test_formatter_that_is_not_called_safe_is_run_on_request_only(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(page.parent, "tidy.py", STRIPS)
    write(page.parent, "rules.yaml", rules(TIDIED.replace(", safe: true", ""), head=TIDY))
    assert fix() == 1
    assert "UNSAFE      a.docs.tidy has an unsafe fix" in capsys.readouterr().out
    assert page.read_bytes().decode() == TEXT
    assert fix("--unsafe") == 0


def test_formatter_is_tried_on_bad_samples(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(page.parent, "tidy.py", STRIPS)
    samples = rules(TIDIED + "    samples: {good: ['x'], bad: ['x ']}\n", head=TIDY)
    write(page.parent, "rules.yaml", samples)
    assert main(["criteria", "test", "rules.yaml"]) == 0
    assert "a.docs.tidy: its fix fixes 1 of 1 bad sample" in capsys.readouterr().out
