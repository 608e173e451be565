"""Output of any bytes at all: every report of it is valid JSON, and valid XML."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

from tests.faults.figure import Figure, of_cases
from tests.faults.targets import criteria_of

FULL, SAMPLE = 2_000, 25
_EDGES = (
    b"", b"\0", b"\xff\xfe" + "UTF-16 ä".encode("utf-16-le"), b"\xed\xa0\x80 lone surrogate",
    b"\xf0\x9f\x98", "😀".encode() * 20_000, b"\xef\xbb\xbfBOM", b"]]>", b"<![CDATA[", b"\x1b[31m",
    b"\xc2\x85 \xe2\x80\xa8 \xef\xbf\xbe \xef\xbf\xbf", b"\r\n\r", b"\x0b\x0c\x1c\x7f",
    bytes(range(256)),
)  # fmt: skip


def figure(full: bool) -> Figure:
    """Have a command write each text, and read back what pytest and `evaluate` report of it."""
    count = FULL if full else SAMPLE
    some = random.Random(25)
    texts = [*_EDGES, *(some.randbytes(some.randint(1, 400)) for _ in range(count - len(_EDGES)))]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number, text in enumerate(texts):
            (folder / f"{number}.bin").write_bytes(text)
        (folder / "draft.md").write_text("some text\n")
        commands = [f"cat {number}.bin; exit 1" for number in range(count)]
        (folder / "words.yaml").write_text(json.dumps(criteria_of(commands)))
        suite = {"criteria": "words.yaml", "artifacts": ["draft.md"]}
        (folder / "all.reflex.yaml").write_text(json.dumps(suite))
        told = _in_json(folder), _in_xml(folder)
    ids = [f"a.x.rule-{number}" for number in range(count)]
    return of_cases((one, [f"not in {k}" for k, of in told if one not in of]) for one in ids)


def _in_json(folder: Path) -> tuple[str, set[str]]:
    done = _run(
        folder, "pytest_reflex", "evaluate", "draft.md", "--criteria", "words.yaml", "--json"
    )
    rows = json.loads(done.stdout.decode("utf-8", "strict"))["evaluations"][0]["rule_results"]
    return "JSON", {row["id"] for row in rows if row["outcome"] == "fail"}


def _in_xml(folder: Path) -> tuple[str, set[str]]:
    _run(folder, "pytest", "all.reflex.yaml", "--junitxml=out.xml", "-q", "-p", "no:randomly")
    cases = ElementTree.parse(folder / "out.xml").getroot().iter("testcase")
    failed = (case for case in cases if case.find("failure") is not None)
    return "XML", {case.get("classname", "").removeprefix("all.reflex.yaml.") for case in failed}


def _run(folder: Path, module: str, *words: str) -> subprocess.CompletedProcess[bytes]:
    argv = [sys.executable, "-m", module, *words]
    return subprocess.run(argv, cwd=folder, capture_output=True, timeout=900)
