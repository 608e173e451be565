"""Whether a text is a tool's notice that a limit was reached, and nothing else."""

from __future__ import annotations

import re

_LONGEST = 600
_NOTICE = re.compile(
    r"""
    \b(?:hit|reach(?:ed|es)?|exceed(?:ed|s)?|over|used\ up|out\ of|at)\b .{0,50}
        \b(?:limits?|quotas?|credits?|cap|budget)\b
    | \b(?:rate|usage|session|weekly|daily|hourly|5-hour|five-hour|token|request|plan|account|
        spend(?:ing)?|message)s?[ -]+(?:limits?|limited|quota|cap)\b
    | \b(?:limit|quota)\ (?:was\ |is\ |has\ been\ )?(?:reached|exceeded|hit|exhausted)\b
    | \b(?:insufficient|no\ more|not\ enough)\ (?:credits?|quota|balance|funds)\b
    | \btoo\ many\ requests\b | \bHTTP\ 429\b | \b429\b | \bRESOURCE_EXHAUSTED\b
    | \bquota\ exceeded\b | \bcredit\ balance\ is\ too\ low\b | \boverloaded(?:_error)?\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_COMPANY = re.compile(
    r"""
    \bresets?\b | \btry\ again\b | \bretry(?:ing)?\b | \bupgrade\b | \bwait\b | \bupgraded?\b
    | \bmore\ (?:usage|credits)\b | \bsee\ https?:// | ^\W*https?://\S+\W*$ | \bplan\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_DOCUMENT = re.compile(r"\A[{\[<]|^(?:\#{1,6}\s|```|~~~|[-*]\s|\|)|^\S+:\s*$", re.MULTILINE)


def is_limit_notice(text: str) -> bool:
    """Return whether a short text says that a limit was reached, in every one of its lines."""
    bare = text.strip()
    if not bare or len(bare) > _LONGEST or _DOCUMENT.search(bare):
        return False
    lines = [line for line in bare.splitlines() if line.strip()]
    notices = [bool(_NOTICE.search(line)) for line in lines]
    return any(notices) and all(
        notice or _COMPANY.search(line) for notice, line in zip(notices, lines, strict=True)
    )
