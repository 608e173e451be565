"""Whether a text is a tool's notice that a limit was reached, and nothing else.

A report of work may speak of limits too ("Fixed issue #429."), and is often as short. So a notice
is known by its grammar: each of its sentences has to be one that tools print, from its first word
to its last. What only looks like one is a matter for people, or for a tool that failed anyway.
"""

from __future__ import annotations

import re

from pytest_reflex.model.plain import strip_ansi

_LONGEST = 600
_LIMIT = r"(?:limits?|quotas?|caps?|credits?|budget|allowance|usage|capacity)"
# Words that may stand before the limit: whose it is, and of what.
_OF_WHAT = r"""(?:(?:the|your|all|a|any|this|our|current|free|paid|pro|extra|included|available|
    ai|api|model|rate|usage|session|daily|weekly|monthly|hourly|\d+-?hours?|five-hour|
    chat|quota|tokens?|requests?|messages?|prompts?|agent|plan|tier|account|organization|org|team|
    spend|spending|retry|credit|premium|oauth|claude|opus|sonnet|haiku|codex|copilot|gemini|qwen|
    cursor|kiro|gpt|(?:gpt|gemini|claude|qwen|o\d)-[\w.-]*\w(?=[ ]))['’]?s?[ -]+)"""
# How a sentence may go on behind "You've hit your limit": not with a noun ("message", "banner").
_ON = r"""(?:\s*\W*$|\s*[|,(\[{:].*|\s+(?:for|on|in|of|until|with|that|this|and|to|per|resets?|
    today|please|try|while|from|at)\b.*)"""
# No item of these two can be read as two others: a repeated one would cost time without bound.
_LABEL = r"""\W*(?:(?:(?<![\w.])[\w.]*(?:error|exception)|(?:api|stream)[ ]error|sorry|warning|
    claude|codex|openai|anthropic|fatal|(?:request[ ])?failed|request[ ]rejected|
    stream[ ]disconnected(?:[ ]before[ ]completion)?|reconnecting\W+\d+/\d+|
    rate[ ]limit[ ]exceeded(?=:))\b\W*)*"""
_STATUS = r"""(?:(?:exceeded[ ]retry[ ]limit|(?:(?:unexpected|last)[ ])?status|code|http)\W+)*"""
_NOTICE = re.compile(
    rf"""{_LABEL}(?:
    you(?:['’]?ve|\ have|['’]re|\ are)?\ (?:already\ |now\ )?
        (?:hit|reached|exceeded|exhausted|used(?:\ up)?|consumed|run\ out\ of|out\ of|over|at)[ ]
        {_OF_WHAT}{{0,6}}{_LIMIT}{_ON}
    | you\ have\ no\ (?:more\ )?{_OF_WHAT}{{0,3}}{_LIMIT}{_ON}
    | (?:you\ (?:are|have\ been)|you['’]re|the\ api\ provider\ has)\ (?:being\ )?
        rate[ -]limited(?:\ you)?{_ON}
    | {_OF_WHAT}{{0,5}}(?:limit|quota|cap|budget)\ (?:(?:was|is|has\ been)\ )?
        (?:reached|exceeded|exhausted|hit){_ON}
    | (?:insufficient|not\ enough|no\ more|out\ of)\ {_OF_WHAT}{{0,3}}
        (?:credits?|quota|balance|funds){_ON}
    | (?:your\ )?credit\ balance\ is\ too\ low{_ON}
    | {_STATUS}(?:429|529)
        (?:\W+(?:too\ many\ requests|overloaded|rate\ limit\w*|[{{\[(].*){_ON}|\)\W*$)
    | {_STATUS}too\ many\ requests{_ON}
    | repeated\ 529\ overloaded\ errors{_ON}
    | (?:overloaded_error|rate_limit_(?:error|exceeded)|insufficient_quota|resource_exhausted)
        (?:\W*$|\W*[:{{(].*)
    | resource\ has\ been\ exhausted{_ON}
    | (?:selected\ |the\ |our\ )?(?:model|api|servers?|service)\ (?:is|are)[ ]
        (?:currently\ |temporarily\ )?(?:at\ capacity|overloaded)(?:\ [—–-]+\ .*|{_ON})
    | overloaded\W*
    | this\ request\ would\ exceed\ (?:your|the)\ (?:\w+['’]s\ )?rate\ limit{_ON}
    | (?:the\ )?api\ provider['’]s\ servers\ are\ down\ or\ overloaded\W*
    | server\ is\ temporarily\ limiting\ requests{_ON}
    | rate[ -]limited\W*
    )""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
# Words of work: a sentence with one of them reports what was done about a limit.
_WORK = re.compile(
    r"""\b(?:handle[sd]?|handling|fixed|fixes|added|adds|implement\w*|removed|renamed|refactored|
    tests?|tested|covered|returns?|shown?|shows|displayed|documented|logged|raise[sd]?|
    i|i['’]ve|we|instead)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_COMPANY = re.compile(
    r"""\W*(?:
    (?:(?:your|the)\ )?(?:\w+\ )?(?:limit|quota|usage|it)?\ ?(?:will\ )?(?:be\ )?resets?\b
    | (?:please\ |then\ |or\ |and\ )*
        (?:try|retry|wait|upgrade|visit|see|check|purchase|buy|add|contact|get|switch|
        review|consider|send|run|go\ to|use|to\ (?:get|continue|keep|increase)|for\ more|learn)\b
    | retrying | switching\ to | limit\ \d | requested\ \d | request\ id | https?://\S+\W*$
    | if\ it\ persists\b | this\ is\ (?:a\ server-side|usually)\b
    | \d+\W*$ | (?:daily|weekly|monthly|your\ free)\ .*reset
    ).*""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_MAYBE = re.compile(
    rf"""\b(?:hit|reach(?:ed|es)?|exceed(?:ed|s)?|exhausted|used\ up|out\ of)[ ]
        {_OF_WHAT}{{1,6}}{_LIMIT}\b
    | \b(?:limit|quota)\ (?:was\ |is\ |has\ been\ )?(?:reached|exceeded|hit|exhausted)\b
    | \b(?:insufficient|not\ enough)\ (?:credits?|quota|balance|funds)\b
    | \btoo\ many\ requests\b | \b(?:HTTP|status|code)\W{{1,3}}(?:429|529)\b
    | \b(?:RESOURCE_EXHAUSTED|overloaded_error|rate_limit_\w+)\b | \bcredit\ balance\ is\ too\ low\b
    | \brate[ -]limit(?:ed|ing|error)\b | \boverloaded\ errors?\b | \bat\ capacity\b
    | ^\W*(?:api\ error\W+)?(?:\d{3}\W+)?overloaded\b | \brejected\ \((?:429|529)\)
    | \b(?:is|are)\ (?:currently\ |temporarily\ )?overloaded\b
    | \b(?:would\ exceed|rate\ limit\ (?:reached|exceeded)).{0, 40}\b""",
    re.IGNORECASE | re.VERBOSE,
)
_DOCUMENT = re.compile(
    r"\A[{<]|\A\[(?!\w+ error)|^(?:\#{1,6}\s|```|~~~|[-*]\s|\|)|^\S+:\s*$",
    re.IGNORECASE | re.MULTILINE,
)
_SENTENCES = re.compile(r"(?<=[\w)\]\"'’][.!?])\s+|\s[·∙•]\s|[|]|;\s|\n")


def is_limit_notice(text: str) -> bool:
    """Return whether a short text says that a limit was reached, and surely nothing else.

    What stands in a document is none: a text about limits is not a limit.
    """
    bare = strip_ansi(text).strip()
    if not bare or len(bare) > _LONGEST or _DOCUMENT.search(bare):
        return False
    sentences = [one.strip() for one in _SENTENCES.split(bare) if one.strip()]
    notices = [_is_notice(one) for one in sentences]
    return any(notices) and all(
        notice or _COMPANY.fullmatch(one) for notice, one in zip(notices, sentences, strict=True)
    )


def may_be_limit_notice(text: str) -> bool:
    """Return whether a short text has the words of such a notice, among whatever others.

    That is enough to say of a tool which failed why it did, and too little to fail one.
    """
    bare = strip_ansi(text).strip()
    if not bare or len(bare) > _LONGEST or _DOCUMENT.search(bare):
        return False
    return is_limit_notice(bare) or _MAYBE.search(bare) is not None


def is_of_the_account(text: str) -> bool:
    """Return whether a notice is about credit or a plan, which no time brings back."""
    return _ACCOUNT.search(strip_ansi(text)) is not None


_ACCOUNT = re.compile(
    r"""\bcredit\ balance\b | \binsufficient[ _](?:quota|credits?|balance|funds)\b | \bbilling\b
    | \bout\ of\ (?:extra\ |\w+\ )?(?:credits?|funds|usage)\b | \bnot\ enough\ (?:credits?|funds)\b
    | \bno\ (?:more\ )?(?:credits?|balance)\b | \bspending\ (?:cap|limit)\b""",
    re.IGNORECASE | re.VERBOSE,
)


def _is_notice(sentence: str) -> bool:
    return bool(_NOTICE.fullmatch(sentence)) and not _WORK.search(sentence)
