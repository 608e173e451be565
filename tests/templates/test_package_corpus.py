"""The corpus of packages: its list, what readers said, and what a change of a rule shows."""

from __future__ import annotations

import io
import json
import tarfile
from hashlib import sha256
from pathlib import Path

import pytest

from benchmarks.corpus.fetch import bring
from benchmarks.corpus.judge import Finding, Judged, Key, judge
from benchmarks.corpus.judgements import (
    FILE,
    Judgement,
    accepted,
    compare,
    read_answers,
    read_judgements,
    with_readings,
    write_judgements,
)
from benchmarks.corpus.packages import (
    LIST,
    CorpusError,
    Document,
    Package,
    documents,
    read_packages,
)
from benchmarks.corpus.sheets import WARNINGS, chosen, write_sheets
from benchmarks.corpus.table import differences, false_ones, rendered, rows, share_false
from pytest_reflex.model.enums import Level

ENTRY = """\
version = "1"
[[package]]
registry = "{registry}"
name = "{name}"
version = "2.0"
sha256 = "ab"
[package.documents]
guide = ["docs/*.md"]
"""


def key(line: int = 1, *, rule: str = "a.x.y", path: str = "README.md") -> Key:
    return Key("pkg", path, line, rule)


def finding(line: int = 1, *, rule: str = "a.x.y", severity: str = "fail") -> Finding:
    return Finding(
        key=key(line, rule=rule), template="guide", severity=severity, message=f"wrong in {line}"
    )


def judged(*findings: Finding, folder: Path = Path()) -> Judged:
    document = Document(
        package="pkg",
        path="README.md",
        file=folder / "README.md",
        template="guide",
        level=Level.B,
    )
    rules = {one.key.rule: (one.severity, True) for one in findings} | {"z.x.y": ("warn", False)}
    return Judged(document=document, findings=findings, rules=rules, unmeasured={"z.x.y": "no"})


def read(line: int, *readings: bool, reason: str = "", stays: str = "") -> Judgement:
    return Judgement(key=key(line), severity="fail", readings=readings, reason=reason, stays=stays)


def archive_of(folder: Path, package: Package, files: dict[str, bytes]) -> str:
    """Write the package's archive into the cache and return its hash."""
    path = folder / "archives" / package.registry / package.folder / "a.tar.gz"
    path.parent.mkdir(parents=True)
    with tarfile.open(path, "w:gz") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return sha256(path.read_bytes()).hexdigest()


def package(digest: str = "") -> Package:
    return Package(
        registry="npm",
        name="@a/b",
        version="1.0",
        sha256=digest,
        level=Level.B,
        documents={"guide": ("docs/*.md",)},
    )


def test_list_names_enough_projects_with_exact_versions_and_hashes() -> None:
    corpus = read_packages(LIST.read_text("utf-8"))
    assert len(corpus.packages) >= 45
    assert {len(one.sha256) for one in corpus.packages} == {64}
    names = {name for one in corpus.packages for name in one.documents}
    assert names >= {"api-spec", "code", "configuration", "documentation", "guide"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ENTRY.format(registry="cargo", name="a"), "the registry 'cargo' is unknown"),
        (
            ENTRY.format(registry="npm", name="a")
            + ENTRY.format(registry="pypi", name="a").partition("\n")[2],
            "a is listed twice",
        ),
    ],
)
def test_list_that_cannot_be_used_is_refused(text: str, message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        read_packages(text)


def test_archive_with_another_hash_is_not_unpacked(tmp_path: Path) -> None:
    digest = archive_of(tmp_path, package(), {"package/docs/a.md": b"# A\n"})
    with pytest.raises(CorpusError, match=f"has sha256 {digest}, packages.toml says 0123"):
        bring(package("0123"), tmp_path)
    assert not (tmp_path / "npm" / "@a+b-1.0").exists()


def test_documents_of_an_unpacked_package_are_those_of_its_globs(tmp_path: Path) -> None:
    files = {"package/docs/a.md": b"# A\n", "package/docs/b.md": b"# B\n", "package/c.md": b"c"}
    folder = bring(package(archive_of(tmp_path, package(), files)), tmp_path)
    assert [one.path for one in documents(package(), folder)] == ["docs/a.md", "docs/b.md"]


def test_archive_that_leads_out_of_its_folder_is_refused(tmp_path: Path) -> None:
    digest = archive_of(tmp_path, package(), {"package/../../../out.md": b"out"})
    with pytest.raises(tarfile.OutsideDestinationError):
        bring(package(digest), tmp_path)
    assert not list(tmp_path.parent.glob("out.md"))


def test_glob_that_matches_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"nothing matches 'docs/\*\.md'"):
        list(documents(package(), tmp_path))


def test_judgements_are_lines_that_can_be_read_again() -> None:
    ones = [read(2, True, False, reason="“no”", stays="it is advice"), read(10), read(1, True)]
    text = write_judgements(ones)
    assert [json.loads(line)["line"] for line in text.splitlines()] == [1, 2, 10]
    assert set(read_judgements(text).values()) == set(ones)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2 is not a judgement"),
        ('{"package": "pkg"}', "line 2 is not a judgement: KeyError"),
        (write_judgements([read(1)]).strip(), "line 2: the same finding is judged twice"),
    ],
)
def test_line_that_is_no_judgement_is_named(line: str, message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        read_judgements(write_judgements([read(1)]) + line)


@pytest.mark.parametrize(
    ("readings", "verdict"),
    [((), None), ((True,), None), ((True, True), True), ((True, False), False)],
)
def test_finding_is_true_where_two_readers_say_so(
    readings: tuple[bool, ...], verdict: bool | None
) -> None:
    assert read(1, *readings).verdict is verdict


def test_change_of_a_rule_shows_what_it_gained_and_lost() -> None:
    known = {one.key: one for one in (read(1, True, True), read(2, True, False))}
    difference = compare([finding(1), finding(3)], known)
    assert differences(difference) == [
        "+ fail pkg README.md:3 a.x.y: wrong in 3",
        "- fail pkg README.md:2 a.x.y (judged false)",
    ]


def test_accepted_judgements_are_those_of_what_is_found_now() -> None:
    known = {one.key: one for one in (read(1, True, True), read(2, True, False))}
    after = accepted([finding(1), finding(3)], known)
    assert after == {key(1): known[key(1)], key(3): read(3)}


def test_answers_of_two_readers_become_readings(tmp_path: Path) -> None:
    answer = '[[finding]]\nid = "{}"\nverdict = {}\nreason = "{}"\n'
    (tmp_path / "1.reader1.toml").write_text(answer.format(key(1).id, "true", "it is"))
    (tmp_path / "1.reader2.toml").write_text(answer.format(key(1).id, '"false"', "a  mention"))
    answers = [read_answers(tmp_path, reader) for reader in (1, 2)]
    known = {one.key: one for one in (read(1), read(2))}
    after = with_readings(known, *answers)
    assert after == {key(1): read(1, True, False, reason="a mention"), key(2): read(2)}


def test_table_counts_documents_and_findings_apart() -> None:
    known = {one.key: one for one in (read(1, True, True), read(2, True, False))}
    table = rows([judged(finding(1), finding(2), finding(3))], known)
    assert share_false(table, "fail") == (1, 2)
    text = rendered("1", 1, 1, table)
    assert "| guide | `a.x.y` | fail | 1 | 1 | 1 | 1 | 1 |" in text
    assert "| guide | `z.x.y` | warn | 0 | 0 | 0 | 0 | 0 |" in text
    assert "severity fail: 2 judged, 1 of them false (50.0 %), 1 not judged" in text


def test_false_findings_are_listed_with_why_they_stay() -> None:
    ones = [read(1, True, True), read(2, True, False, reason="a mention", stays="Rare."), read(3)]
    assert false_ones(ones) == "* pkg, README.md:2, `a.x.y`: a mention. Rare.\n"


def test_sheets_have_each_fail_and_a_share_of_the_others(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("".join(f"text {n}\n" for n in range(1, 400)))
    fails = [finding(n) for n in range(1, 80)]
    warns = [finding(n, rule=f"b.x.{n % 3}", severity="warn") for n in range(1, 300)]
    one = judged(*fails, *warns, folder=tmp_path)
    some = chosen([one], {key(5): read(5, True, True)})
    assert [f.severity for f in some] == ["fail"] * 78 + ["warn"] * WARNINGS
    files = {("pkg", "README.md"): tmp_path / "README.md"}
    assert write_sheets(some, files, tmp_path / "sheets") == 4
    text = (tmp_path / "sheets" / "1.md").read_text()
    assert f"## {key(1).id}" in text
    assert ">    1 text 1" in text


def test_document_is_judged_with_the_place_of_what_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nSee [there](#there).\n")
    document = Document(
        package="pkg", path="a.md", file=tmp_path / "a.md", template="guide", level=Level.A
    )
    one = judge(document)
    found = {f.key.rule: f.key.line for f in one.findings}
    assert found["a.correctness.accuracy"] == 3
    assert one.rules["a.correctness.accuracy"] == ("fail", True)


def test_judgements_of_the_repository_can_be_read() -> None:
    known = read_judgements(FILE.read_text("utf-8"))
    names = {one.name for one in read_packages(LIST.read_text("utf-8")).packages}
    assert {one.package for one in known} <= names
