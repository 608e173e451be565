"""Which failures to read say something of the machine at this moment, and nothing of a file."""

from __future__ import annotations

import errno

_PASSING = frozenset((errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN))


def is_passing(error: OSError) -> bool:
    """Return whether the same read may succeed a moment later."""
    return error.errno in _PASSING
