"""A history as the program wrote it once is read the same for ever; a change in it is noticed."""

from __future__ import annotations

import json
import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from pytest_reflex.drivers.reflex.history import digest, read_events, text_after
from pytest_reflex.model.enums import Level
from pytest_reflex.model.run import RunState
from pytest_reflex.model.stop import RunStatus, StopReason
from pytest_reflex.storage.journal import Journal, read_journal
from pytest_reflex.storage.lines import decode, digest_of, encode

GOLDEN = Path(__file__).parent / "golden/history.jsonl"
EVENTS = 31


def state() -> RunState:
    return read_events(GOLDEN, read_journal(GOLDEN).records)[1]


def test_every_line_of_it_is_read() -> None:
    content = read_journal(GOLDEN)
    assert (content.whole, len(content.records), content.torn) == (True, EVENTS, b"")
    assert [record["seq"] for record in content.records] == list(range(1, EVENTS + 1))
    assert content.records[-1]["event"] == "stopped"


def test_it_leads_to_the_state_that_it_had() -> None:
    found = state()
    assert (found.status, found.stop.reason) == (RunStatus.COMPLETED, StopReason.THRESHOLD_REACHED)
    assert (found.iteration, found.level, found.last_seq) == (3, Level.B, EVENTS)
    assert [(m.iteration, m.level.value, m.score) for m in found.marks] == [
        (1, "A", Fraction(0)),
        (2, "A", Fraction(2, 3)),
        (2, "A", Fraction(1)),
        (2, "B", Fraction(3, 5)),
        (3, "B", Fraction(1)),
    ]
    assert (found.spend.calls, found.spend.usd) == (14, 0.25)
    assert found.limits.max_iterations == 6
    assert found.evaluation is not None
    assert found.evaluation.passed


def test_it_leads_to_the_artifact_that_it_had() -> None:
    events = read_events(GOLDEN, read_journal(GOLDEN).records)[0]
    assert text_after(events) == "alpha beta gamma\n"
    assert text_after(events[:8]) == "ä x\n"
    assert digest(text_after(events)) == state().artifact_sha256


def test_it_is_written_the_same() -> None:
    last = "0" * 16
    for line in GOLDEN.read_bytes().splitlines(keepends=True):
        record = json.loads(line)
        assert record["prev"] == last
        assert encode(record, record["seq"], last) == line
        last = digest_of(line[:-1])


def test_it_is_gone_on_with(tmp_path: Path) -> None:
    path = Path(shutil.copy(GOLDEN, tmp_path))
    with Journal.open(path) as journal:
        journal.append({"event": "feedback_given", "payload": {}})
    data = path.read_bytes()
    assert data.startswith(GOLDEN.read_bytes())
    assert decode(data).whole
    assert json.loads(data.splitlines()[-1])["prev"] == "03e062dcfa6e86c3"


def changed(number: int, old: bytes, new: bytes) -> list[bytes]:
    lines = GOLDEN.read_bytes().splitlines(keepends=True)
    assert old in lines[number - 1]
    lines[number - 1] = lines[number - 1].replace(old, new, 1)
    return lines


def damages(data: bytes) -> list[str]:
    content = decode(data)
    return [str(one) for one in (*content.damages, *content.breaks)]


def test_a_last_line_without_its_end_is_whole_and_numbered() -> None:
    data = GOLDEN.read_bytes()[:-1]
    assert decode(data).whole
    *lines, last = data.splitlines(keepends=True)
    assert damages(b"".join([*lines[:-1], last])) == [
        f"line {EVENTS - 1}: it does not follow the line before"
    ]


@pytest.mark.parametrize("number", [2, 7, EVENTS - 1])
def test_a_line_that_was_changed_and_summed_again_shows_in_the_next(number: int) -> None:
    lines = GOLDEN.read_bytes().splitlines(keepends=True)
    record = json.loads(lines[number - 1])
    lines[number - 1] = encode({**record, "status": "other"}, number, record["prev"])
    after = f"line {number + 1}: it does not follow the line before"
    assert damages(b"".join(lines)) == [after]


def test_a_line_with_the_right_number_and_the_wrong_link_does_not_follow() -> None:
    lines = GOLDEN.read_bytes().splitlines(keepends=True)
    record = json.loads(lines[4])
    lines[4] = encode(record, 5, "f" * 16)
    assert "line 5: it does not follow the line before" in damages(b"".join(lines))


def test_a_line_with_the_right_link_and_the_wrong_number_does_not_follow() -> None:
    lines = GOLDEN.read_bytes().splitlines(keepends=True)
    record = json.loads(lines[-1])
    lines[-1] = encode(record, EVENTS + 1, record["prev"])
    assert damages(b"".join(lines)) == [f"line {EVENTS}: it does not follow the line before"]


def test_a_whole_line_that_was_changed_is_never_taken_for_an_unfinished_one() -> None:
    lines = changed(9, b'"status":"ok"', b'"status":"OK"')
    record = json.loads(lines[9])
    lines[9] = encode(record, 9, digest_of(lines[8][:-1]))  # as if it had been found unfinished
    wrong = damages(b"".join(lines[:10]))
    assert wrong[0] == "line 9: its sum is wrong: it was changed after it was written"


def test_an_unfinished_line_that_a_writer_went_on_behind_is_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(GOLDEN.read_bytes()[:-30])
    with Journal.open(path) as journal:
        journal.append({"event": "stopped"})
    content = read_journal(path)
    assert (content.whole, content.sealed) == (True, (EVENTS,))


@pytest.mark.parametrize("left_out", ["prev", "crc"])
def test_a_line_that_lost_half_of_what_it_is_linked_by_is_damaged(left_out: str) -> None:
    lines = GOLDEN.read_bytes().splitlines(keepends=True)
    record = json.loads(lines[0])
    del record[left_out]
    line = json.dumps(record, separators=(",", ":")).encode()
    reason = "its sum is missing" if left_out == "crc" else "its sum is wrong"
    (found,) = damages(line + b"\n")
    assert found.startswith(f"line 1: {reason}")
