"""What is wrong with a text that is not an id of a rule, and which ids look alike."""

from __future__ import annotations

import re
import unicodedata

from pytest_reflex.criteria.wording import quoted
from pytest_reflex.model.rules import LONGEST_ID, is_id

FORM = "<a|b>.<category>.<name>"


def what_is_wrong(text: str) -> tuple[str, str]:
    """Return message and hint for a text that is not an id."""
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
