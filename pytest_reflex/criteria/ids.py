"""How a rule may be called, and what the name says about its level."""

from __future__ import annotations

import re
import unicodedata

from pytest_reflex.criteria.wording import quoted
from pytest_reflex.model.words import Level

LONGEST_ID = 120
FORM = "<a|b>.<category>.<name>"

_PART = r"[a-z0-9]+(?:-[a-z0-9]+)*"
_ID = re.compile(rf"{_PART}(?:\.{_PART})+")
_LEVELS = {"a.": Level.A, "b.": Level.B}


def is_id(text: str) -> bool:
    return _ID.fullmatch(text) is not None and len(text) <= LONGEST_ID


def level_of(rule_id: str) -> Level | None:
    """Return the level that an id of the form `<a|b>.<category>.<name>` names, else None."""
    level = _LEVELS.get(rule_id[:2])
    return level if level and rule_id.count(".") == 2 else None


def contradicts(rule_id: str, level: Level) -> bool:
    """Return whether the id starts with the other level's letter."""
    return _LEVELS.get(rule_id[:2], level) is not level


def what_is_wrong(text: str) -> tuple[str, str]:
    """Return message and hint for a text that is no id."""
    if len(text) > LONGEST_ID:
        return f"the id has {len(text)} characters; {LONGEST_ID} are allowed", ""
    odd = next((c for c in text if not (c.isascii() and (c.isalnum() or c in ".-_ "))), None)
    if odd is not None:
        name = unicodedata.name(odd, "a character without a name")
        return f"the id {quoted(text)} holds U+{ord(odd):04X} ({name})", f"ids look like {FORM}"
    near = re.sub(r"[-_ ]+", "-", text.lower()).strip("-.")
    hint = f"did you mean {near}?" if is_id(near) else f"ids look like {FORM}"
    form = "lower case, parts joined by dots, hyphens inside a part"
    return f"{quoted(text)} is not an id: {form}", hint


def folded(text: str) -> str:
    """Return the form in which ids that look or compare alike are equal."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return "".join(c for c in plain if unicodedata.category(c) != "Cf")
