"""The lines of a journal: how one is written, and what can be wrong with one that is read.

Each line is a JSON object that ends with `seq`, `prev` and `crc`: its number, the start of the
SHA-256 of the line before, and the CRC-32 of itself without the `crc`. Lines without them, as
other programs write them, are read as long as no line of this program came before.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

NO_LINE = "0" * 16

_CRC = re.compile(rb',"crc":"([0-9a-f]{8})"\}')
_TAIL_LENGTH = len(',"crc":"00000000"}')


@dataclass(frozen=True, slots=True)
class Damage:
    """A line (1-based) that cannot be used, or after which something is missing, and why."""

    line: int
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a journal holds: the usable records, and everything that is wrong with the rest.

    `damages` are lines that gave no record; `breaks` lines that do not follow the line before;
    `sealed` numbers of torn lines that a later writer found and wrote on after; `zeros` lines with
    NUL bytes, as a crash leaves them, that took no event with them; `torn` the bytes of a last line
    that was never finished. `last` is the digest that the next line has to name.
    """

    records: tuple[dict[str, Any], ...] = ()
    damages: tuple[Damage, ...] = ()
    breaks: tuple[Damage, ...] = ()
    sealed: tuple[int, ...] = ()
    zeros: tuple[Damage, ...] = ()
    torn: bytes = b""
    last: str = NO_LINE

    @property
    def whole(self) -> bool:
        """Whether nothing is lost: a torn line was never acknowledged."""
        return not self.damages and not self.breaks


def encode(record: Mapping[str, Any], seq: int, prev: str) -> bytes:
    """Return the line of a record, with its end; raises ValueError for NaN and infinities."""
    wire = {key: value for key, value in record.items() if key != "crc"}
    wire |= {"seq": seq, "prev": prev}
    try:
        body = _dump(wire, ascii_only=False).encode()
    except UnicodeEncodeError:  # a lone surrogate has no UTF-8, but an escape
        body = _dump(wire, ascii_only=True).encode()
    return body[:-1] + f',"crc":"{zlib.crc32(body):08x}"}}\n'.encode()


def _dump(wire: Mapping[str, Any], *, ascii_only: bool) -> str:
    return json.dumps(wire, ensure_ascii=ascii_only, allow_nan=False, separators=(",", ":"))


def decode(data: bytes) -> Content:
    """Return what the bytes of a journal hold. Lines end with LF and nothing else."""
    *lines, rest = data.split(b"\n")
    reader = _JournalReader()
    for number, line in enumerate(lines, 1):
        reader.take(number, line)
    if rest:
        record, _ = parse(rest)
        if record is not None:  # whole but for its line end
            reader.take(len(lines) + 1, rest)
            rest = b""
        elif b"\0" in rest:
            reader.note_unfinished(len(lines) + 1, rest)
    return reader.content(rest)


def parse(line: bytes) -> tuple[dict[str, Any] | None, str]:
    """Return the record of a line without its end, or None and the reason why there is none."""
    tail = _CRC.fullmatch(line[-_TAIL_LENGTH:])
    if tail and zlib.crc32(line[:-_TAIL_LENGTH] + b"}") != int(tail[1], 16):
        return None, "its sum is wrong: it was changed after it was written"
    try:
        found = json.loads(line.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_refuse)
    except UnicodeDecodeError:
        return None, "it is not UTF-8"
    except RecursionError:
        return None, "it is nested too deep"
    except ValueError as error:
        return None, f"it is not JSON ({error})"
    if not isinstance(found, dict):
        return None, "it is not a JSON object"
    if ("prev" in found or "crc" in found) != bool(tail):
        return None, "its sum is missing"
    seq = found.get("seq")
    if "seq" in found and (not isinstance(seq, int) or isinstance(seq, bool)):
        return None, f"its seq is not a whole number: {seq!r}"
    return found, ""


class _JournalReader:
    """Lines taken one after the other; knows what the next one has to refer to."""

    def __init__(self) -> None:
        self._records: list[dict[str, Any]] = []
        self._damages: list[Damage] = []
        self._breaks: list[Damage] = []
        self._sealed: list[int] = []
        self._zeros: list[Damage] = []
        self._void: tuple[str, int] | None = None
        self._line = b""
        self._last = NO_LINE
        self._chained = False

    def take(self, number: int, line: bytes) -> None:
        if b"\0" in line:  # in JSON it is an escape
            rest = line.replace(b"\0", b"")
            if not rest or parse(rest)[0] is not None:
                was = "was" if line.count(b"\0") == 1 else "were"
                self._zeros.append(Damage(number, f"{_nul_bytes(line)} {was} left out"))
                if not rest:
                    self._void = (digest_of(line), number)
                    return
                line = rest
        record, reason = parse(line)
        if b"\0" in line:
            reason = f"it holds {_nul_bytes(line)}, and a part of its event is lost"
        if record is not None and self._chained and "prev" not in record:
            record, reason = None, "it is not linked to the line before"
        if record is None:
            self._damages.append(Damage(number, reason))
        else:
            self._link(number, record)
            self._records.append(
                {key: value for key, value in record.items() if key not in ("prev", "crc")}
            )
        self._line, self._last = line, digest_of(line)

    def _link(self, number: int, record: dict[str, Any]) -> None:
        expected = self._records[-1]["seq"] + 1 if self._records else 1
        seq = record.setdefault("seq", expected)
        if "prev" not in record:
            return
        self._chained = True
        void, line = self._void or ("", number)
        if self._void and void == record["prev"]:  # a writer found the zeros as an unfinished line
            self._sealed.append(line)
            self._last = void
        follows = record["prev"] == self._last and seq == expected
        if self._damages and self._damages[-1].line == number - 1:
            # A writer that finds an unfinished line goes on behind it and names it.
            if follows and not _CRC.search(self._line):
                self._sealed.append(self._damages.pop().line)
                if b"\0" in self._line:
                    self.note_unfinished(number - 1, self._line)
        elif not follows and line == number - 1:  # the zeros stand in an event's place
            self._zeros = [zeros for zeros in self._zeros if zeros.line != line]
            self._damages.append(Damage(line, "it holds NUL bytes and nothing else"))
        elif not follows:
            self._breaks.append(Damage(number, "it does not follow the line before"))

    def note_unfinished(self, number: int, line: bytes) -> None:
        """Note the NUL bytes of a line that was never finished."""
        found = f"it was never finished, holds {_nul_bytes(line)}, and was left out"
        self._zeros.append(Damage(number, found))

    def content(self, torn: bytes) -> Content:
        return Content(
            records=tuple(self._records),
            damages=tuple(self._damages),
            breaks=tuple(self._breaks),
            sealed=tuple(self._sealed),
            zeros=tuple(self._zeros),
            torn=torn,
            last=self._last,
        )


def _nul_bytes(line: bytes) -> str:
    count = line.count(b"\0")
    return "1 NUL byte" if count == 1 else f"{count} NUL bytes"


def digest_of(line: bytes) -> str:
    """Return what the line after this one names as `prev`."""
    return hashlib.sha256(line).hexdigest()[:16]


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON number")
