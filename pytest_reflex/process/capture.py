"""Keep the beginning and the end of a stream of bytes, and count the rest."""

from __future__ import annotations

KEPT = 256 * 1024


class Capture:
    """Holds the first `head` and the last `tail` bytes of what is added, and the total."""

    __slots__ = ("_head", "_head_size", "_tail", "_tail_size", "total")

    def __init__(self, head: int = KEPT, tail: int = KEPT) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._head_size = head
        self._tail_size = tail
        self.total = 0

    @property
    def truncated(self) -> bool:
        return self.total > self._head_size + self._tail_size

    def add(self, chunk: bytes) -> None:
        self.total += len(chunk)
        free = self._head_size - len(self._head)
        if free > 0:
            self._head += chunk[:free]
            chunk = chunk[free:]
        if chunk:
            self._tail += chunk
            if len(self._tail) > 2 * self._tail_size + len(chunk):
                del self._tail[: len(self._tail) - self._tail_size]

    def data(self) -> bytes:
        """Return all bytes, or head and tail with a remark between them.

        A UTF-8 character at a cut is left out whole.
        """
        if not self.truncated:
            return bytes(self._head + self._tail)
        head = _without_torn_end(bytes(self._head))
        tail = _without_torn_start(bytes(self._tail[len(self._tail) - self._tail_size :]))
        left_out = self.total - len(head) - len(tail)
        return head + b"\n[... %d bytes left out ...]\n" % left_out + tail


def _without_torn_end(data: bytes) -> bytes:
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0b1100_0000 == 0b1000_0000:
            continue
        length = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
        return data[:-back] if length > back else data
    return data


def _without_torn_start(data: bytes) -> bytes:
    start = 0
    while start < min(3, len(data)) and data[start] & 0b1100_0000 == 0b1000_0000:
        start += 1
    return data[start:]
