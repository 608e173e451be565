"""The journal: what was acknowledged is there, what is damaged shows, one writer at a time."""

from __future__ import annotations

import errno
import json
import os
import random
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reflex.errors import LockedError, StateError, TamperedError
from pytest_reflex.storage.journal import Journal, is_locked, read_journal
from pytest_reflex.storage.lines import NO_LINE, decode, encode


def record(number: int) -> dict[str, Any]:
    return {"event": "plan_created", "payload": {"n": number, "text": "é\u2028\u0085 {x}"}}


def written(path: Path, count: int) -> bytes:
    with Journal.create(path) as journal:
        for number in range(count):
            journal.append(record(number))
    return path.read_bytes()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "history.jsonl"


def test_records_come_back_in_order(path: Path) -> None:
    written(path, 3)
    content = read_journal(path)
    assert content.whole
    assert content.records == tuple({**record(n), "seq": n + 1} for n in range(3))
    assert oct(path.stat().st_mode)[-3:] == "600"


def test_reopened_journal_goes_on(path: Path) -> None:
    before = written(path, 2)
    with Journal.open(path) as journal:
        assert journal.next_seq == 3
        assert journal.append(record(2))["seq"] == 3
    assert path.read_bytes().startswith(before)
    assert [r["seq"] for r in read_journal(path).records] == [1, 2, 3]


@pytest.mark.long
@settings(deadline=None)
@given(st.dictionaries(st.text(), st.text() | st.integers() | st.booleans() | st.none()))
def test_any_record_is_one_line_that_reads_back(payload: dict[str, Any]) -> None:
    line = encode({"payload": payload}, 1, NO_LINE)
    assert line.count(b"\n") == 1
    assert decode(line).records == ({"payload": payload, "seq": 1},)


def test_b014_nan_is_never_stored(path: Path) -> None:
    with Journal.create(path) as journal, pytest.raises(ValueError, match="Out of range float"):
        journal.append({"score": float("nan")})
    assert path.read_bytes() == b""


def test_t12_a_byte_that_another_program_changes_is_noticed_before_the_next_event(
    path: Path,
) -> None:
    data = bytearray(written(path, 2))
    data[20] ^= 1
    with Journal.open(path.with_name("history.jsonl")) as journal:
        with path.open("r+b") as file:
            file.write(data)
        with pytest.raises(TamperedError, match="was changed while this run was writing it"):
            journal.append(record(2))


def test_a_history_that_was_only_touched_is_written_on(path: Path) -> None:
    with Journal.create(path) as journal:
        journal.append(record(0))
        os.utime(path, (0, 0))
        path.chmod(0o640)
        journal.append(record(1))
    assert read_journal(path).whole


@pytest.mark.parametrize("changed", [False, True])
def test_a_record_counts_whose_file_could_not_be_looked_at_afterwards(
    path: Path, monkeypatch: pytest.MonkeyPatch, changed: bool
) -> None:
    look = os.fstat

    def broken(descriptor: int) -> os.stat_result:
        if look(descriptor).st_size:
            raise OSError(errno.EIO, "Input/output error")
        return look(descriptor)

    with Journal.create(path) as journal:
        with monkeypatch.context() as patched:
            patched.setattr(os, "fstat", broken)
            assert journal.append(record(0))["seq"] == 1
        if changed:
            path.write_bytes(path.read_bytes().replace(b"plan", b"plam"))
            with pytest.raises(TamperedError, match="was changed while"):
                journal.append(record(1))
            return
        assert journal.append(record(1))["seq"] == 2
    assert [one["seq"] for one in read_journal(path).records] == [1, 2]
    assert read_journal(path).whole


def test_lone_surrogate_is_kept(path: Path) -> None:
    with Journal.create(path) as journal:
        journal.append({"text": "\ud83d"})
    assert read_journal(path).records[0]["text"] == "\ud83d"


@pytest.mark.long
def test_b109_every_cut_leaves_whole_records_and_a_clean_end(path: Path) -> None:
    data = written(path, 3)
    ends = [at + 1 for at, byte in enumerate(data) if byte == 10]
    for cut in range(len(data) + 1):
        path.write_bytes(data[:cut])
        whole = sum(end <= cut or end == cut + 1 for end in ends)
        with Journal.open(path) as journal:
            assert len(journal.records) == whole
            journal.append(record(99))
        content = read_journal(path)
        assert content.whole
        assert [r["seq"] for r in content.records] == list(range(1, whole + 2))
        assert content.records[-1]["payload"]["n"] == 99
        assert path.read_bytes().startswith(data[:cut])


def test_b109_torn_tail_is_kept_aside(path: Path) -> None:
    data = written(path, 2)
    for number in (1, 2):
        torn = data[: -10 * number]
        path.write_bytes(torn)
        Journal.open(path).close()
        assert path.with_name(f"history.jsonl.torn-{number}").read_bytes() == torn.split(b"\n")[1]
    with Journal.open(path) as journal:
        journal.append(record(9))
    assert read_journal(path).torn == b""


def test_f03_a_journal_that_was_opened_and_left_opens_again(path: Path) -> None:
    data = written(path, 2)
    path.write_bytes(data[:-10])
    for _ in range(3):
        with Journal.open(path) as journal:
            assert (len(journal.records), journal.torn_lines) == (1, 1)
    assert path.read_bytes() == data[:-10]
    assert [kept.name for kept in path.parent.glob("*.torn-*")] == ["history.jsonl.torn-1"]


def test_torn_end_is_told_without_the_lock(path: Path) -> None:
    data = written(path, 2)
    path.write_bytes(data[:-10])
    content = read_journal(path)
    assert content.torn == data.split(b"\n")[1][:-9]
    assert content.whole


def damage(data: bytes, dice: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    line = dice.randrange(len(lines))
    at = dice.randrange(len(lines[line]) - 1)
    kind = dice.choice(["flip", "nul", "two on a line", "other type", "lost", "twice", "edited"])
    if kind == "flip":
        byte = bytes([lines[line][at] ^ dice.choice([1, 2, 32, 128])])
        lines[line] = lines[line][:at] + byte + lines[line][at + 1 :]
    elif kind == "nul":
        lines[line] = lines[line][:at] + b"\0" * 5 + lines[line][at + 5 :]
    elif kind == "two on a line":
        lines[line] = lines[line].rstrip(b"\n") + lines[line]
    elif kind == "other type":
        lines[line] = dice.choice([b"[1]\n", b"null\n", b'"x"\n', b"{}\n", b'{"seq":1}\n'])
    elif kind == "lost":
        lines[line] = b""
    elif kind == "twice":
        lines[line] *= 2
    else:
        lines[line] = lines[line].replace(b'"n":', b'"m":')
    return b"".join(lines)


def test_no_damage_is_silent(path: Path) -> None:
    data = written(path, 8)
    dice = random.Random(7)
    for _ in range(300):
        broken = damage(data, dice)
        if broken == data or broken == data[: data[:-1].rindex(b"\n") + 1]:
            continue  # the loss of whole last lines is for run.json to tell (last_seq)
        content = decode(broken)
        assert not content.whole or content.torn
        lines = broken.count(b"\n")
        assert len(content.records) + len(content.damages) + len(content.sealed) == lines


REASONS = {
    "changed": ((1, b'"n":1', b'"n":7'), "line 2: its sum is wrong"),
    "no json": ((1, b"{", b"("), "line 2: its sum is wrong"),
    "no sum": ((0, b',"crc":', b',"crd":'), "line 1: its sum is missing"),
}


@pytest.mark.parametrize(("change", "message"), REASONS.values(), ids=REASONS.keys())
def test_damaged_journal_is_not_written_on(
    path: Path, change: tuple[int, bytes, bytes], message: str
) -> None:
    lines = written(path, 3).splitlines(keepends=True)
    number, old, new = change
    lines[number] = lines[number].replace(old, new)
    path.write_bytes(b"".join(lines))
    with pytest.raises(StateError, match=f"history.jsonl is damaged: {message}"):
        Journal.open(path)
    assert path.read_bytes() == b"".join(lines)


@pytest.mark.parametrize("count", [4, 5, 6, 9])
def test_damage_is_told_of_five_lines_and_that_there_is_more(path: Path, count: int) -> None:
    lines = [line.replace(b'"n":', b'"m":') for line in written(path, count).splitlines(True)]
    path.write_bytes(b"".join(lines))
    with pytest.raises(StateError) as caught:
        Journal.open(path)
    (problem,) = caught.value.problems
    reason = "its sum is wrong: it was changed after it was written"
    named = "; ".join(f"line {n}: {reason}" for n in range(1, min(count, 5) + 1))
    assert problem.message == f"{path} is damaged: {named}{'; ...' if count > 5 else ''}"


def test_damage_and_breaks_are_told_in_the_order_of_their_lines(path: Path) -> None:
    lines = written(path, 6).splitlines(keepends=True)
    lines[4] = b"\xff\n"
    path.write_bytes(b"".join([lines[0], *lines[2:]]))
    with pytest.raises(StateError, match=r"line 2: it does not follow .*; line 4: it is not UTF-8"):
        Journal.open(path)


def test_an_unfinished_line_behind_a_damaged_one_is_told_apart(path: Path) -> None:
    lines = written(path, 4).splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:3]) + lines[3][:20])
    with Journal.open(path) as journal:
        journal.append(record(4))
    data = path.read_bytes().splitlines(keepends=True)
    data[0] = data[0].replace(b'"n":0', b'"n":8')
    content = decode(b"".join(data))
    assert [damage.line for damage in content.damages] == [1]
    assert content.sealed == (4,)


@pytest.mark.parametrize("prev", ["", "0", NO_LINE, NO_LINE * 2, None, 0, False, []])
def test_a_line_that_names_no_line_follows_none(path: Path, prev: Any) -> None:
    data = written(path, 2) + encode(record(2), 3, prev)
    assert list(map(str, decode(data).breaks)) == ["line 3: it does not follow the line before"]


def test_lost_line_is_told(path: Path) -> None:
    lines = written(path, 3).splitlines(keepends=True)
    content = decode(lines[0] + lines[2])
    assert list(map(str, content.breaks)) == ["line 2: it does not follow the line before"]


BAD_LINES = {
    "not utf-8": (b"\xff", "it is not UTF-8"),
    "number": (b"7", "it is not a JSON object"),
    "nan": (b'{"a": NaN}', "it is not JSON (NaN is not a JSON number)"),
    "twice": (b'{"a": 1, "a": 2}', "it is not JSON (a key is there twice)"),
    "deep": (b"[" * 100_000, "it is nested too deep"),
    "seq": (b'{"seq": true}', "its seq is not a whole number: True"),
    "unsigned": (b'{"prev": "x"}', "its sum is missing"),
}


@pytest.mark.parametrize(("line", "reason"), BAD_LINES.values(), ids=BAD_LINES.keys())
def test_bad_line_is_explained(line: bytes, reason: str) -> None:
    content = decode(line + b"\n")
    assert [str(damage) for damage in content.damages] == [f"line 1: {reason}"]


def test_history_of_another_program_is_read_and_written_on(path: Path) -> None:
    path.write_bytes(b'{"event":"run_started"}\n{"event":"plan_created"}')
    with Journal.open(path) as journal:
        assert [r["seq"] for r in journal.records] == [1, 2]
        journal.append({"event": "stopped"})
    content = read_journal(path)
    assert content.whole
    assert [r["event"] for r in content.records] == ["run_started", "plan_created", "stopped"]


def test_unlinked_line_after_linked_ones_is_damage(path: Path) -> None:
    data = written(path, 1) + b'{"event":"stopped"}\n'
    assert [d.reason for d in decode(data).damages] == ["it is not linked to the line before"]


def test_second_writer_is_refused_and_told_the_pid(path: Path) -> None:
    with Journal.create(path):
        assert is_locked(path)
        with pytest.raises(
            LockedError, match=rf"is running {path.parent.name} .*pid {os.getpid()}"
        ):
            Journal.open(path)
    assert not is_locked(path)
    Journal.open(path).close()


def test_b113_lock_ends_with_a_killed_holder(path: Path) -> None:
    written(path, 1)
    program = (
        "import sys, time; from pathlib import Path;"
        "from pytest_reflex.storage.journal import Journal;"
        "journal = Journal.open(Path(sys.argv[1])); print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        assert is_locked(path)
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        assert not is_locked(path)
        Journal.open(path).close()


def test_forked_child_does_not_keep_the_lock(path: Path) -> None:
    journal = Journal.create(path)
    born, to_parent = os.pipe()
    child = os.fork()
    if child == 0:  # never ends by itself, so that nothing of the parent is written twice
        os.write(to_parent, b"x")
        while True:
            signal.pause()
    os.read(born, 1)
    assert is_locked(path)
    journal.close()
    held = is_locked(path)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(born)
    os.close(to_parent)
    assert not held


@pytest.mark.parametrize("kind", ["link", "dangling", "fifo", "folder", "hard link"])
def test_b116_only_a_plain_file_becomes_a_journal(path: Path, kind: str) -> None:
    victim = path.with_name("victim")
    victim.write_bytes(b"precious")
    if kind == "link":
        path.symlink_to(victim)
    elif kind == "dangling":
        path.symlink_to(path.with_name("nowhere"))
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.hardlink_to(victim)
    with pytest.raises(StateError, match=r"history\.jsonl"):
        Journal.open(path)
    with pytest.raises(StateError, match=r"history\.jsonl could not be made: File exists"):
        Journal.create(path)
    assert victim.read_bytes() == b"precious"
    assert not path.with_name("nowhere").exists()


@pytest.mark.parametrize("change", ["grown", "replaced", "linked", "removed"])
def test_change_by_another_program_is_noticed(path: Path, change: str) -> None:
    with Journal.create(path) as journal:
        journal.append(record(0))
        if change == "grown":
            path.write_bytes(path.read_bytes() + b"{}\n")
        else:
            path.rename(path.with_name("moved"))
            if change == "replaced":
                path.write_bytes(path.with_name("moved").read_bytes())
            elif change == "linked":
                path.symlink_to(path.with_name("moved"))
        word = {"grown": "changed", "linked": "replaced"}.get(change, change)
        with pytest.raises(StateError, match=rf"history\.jsonl was {word}"):
            journal.append(record(1))


def test_seq_that_does_not_follow_is_refused(path: Path) -> None:
    with (
        Journal.create(path) as journal,
        pytest.raises(ValueError, match="seq 5 does not follow 0"),
    ):
        journal.append({"seq": 5})


def test_closed_journal_is_not_written(path: Path) -> None:
    journal = Journal.create(path)
    journal.close()
    journal.close()
    with pytest.raises(StateError, match=r"history\.jsonl is closed"):
        journal.append({})


def test_a_journal_is_written_and_let_go_where_there_is_no_standard_input(path: Path) -> None:
    standard_input = os.dup(0)
    os.close(0)
    try:
        with Journal.create(path) as journal:
            journal.append({"n": 1})
            assert os.path.samestat(os.fstat(0), path.stat())
            assert is_locked(path)
        held = is_locked(path)
    finally:
        os.dup2(standard_input, 0)
        os.close(standard_input)
    assert not held
    assert [r["n"] for r in read_journal(path).records] == [1]


@pytest.mark.parametrize("call", ["fchmod", "fsync"])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(5, "Input/output error")])
def test_a_journal_that_is_not_made_leaves_no_file_open(
    path: Path, call: str, error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(descriptor: int, *mode: int) -> None:
        raise error

    kind = StateError if isinstance(error, OSError) else type(error)
    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        with pytest.raises(kind) as caught:
            Journal.create(path)
    if kind is StateError:
        assert str(caught.value).endswith("history.jsonl could not be made: Input/output error")
    assert not is_locked(path)
    Journal.open(path).close()


def test_disk_that_fills_up_is_told_and_mended_by_the_next_writer(path: Path) -> None:
    program = (
        "import sys; from pathlib import Path;"
        "from pytest_reflex.errors import StateError;"
        "from pytest_reflex.storage.journal import Journal\n"
        "journal = Journal.create(Path(sys.argv[1])); journal.append({'n': 1})\n"
        "for size in (5000, 1):\n"
        "    try: journal.append({'n': 'x' * size})\n"
        "    except StateError as error: print(error)\n"
    )

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], preexec_fn=limit, capture_output=True, text=True
    )
    assert "could not be written: only " in done.stdout
    assert "could not be written before (resume the run" in done.stdout
    with Journal.open(path) as journal:
        assert [r["n"] for r in journal.records] == [1]
        journal.append({"n": 2})
    assert [r["n"] for r in read_journal(path).records] == [1, 2]


def test_missing_journal_is_missing(path: Path) -> None:
    assert not is_locked(path)
    for use in (Journal.open, read_journal):
        with pytest.raises(FileNotFoundError, match=r"history\.jsonl"):
            use(path)


def test_line_is_plain_json_with_the_keys_of_the_event_first(path: Path) -> None:
    line = written(path, 1).decode()
    assert list(json.loads(line)) == ["event", "payload", "seq", "prev", "crc"]
