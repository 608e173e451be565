"""Text that stands where a text should be: notes to oneself, dummy words, pseudo-Latin."""

from __future__ import annotations

import re

# A note stands where a text should be: it begins one or ends one, has a colon, or is a predicate.
# Elsewhere ("it finds TODO comments", "a TODO list", "TODO.md") such notes are only spoken of.
_PLACEHOLDER_TAG = "(?:TODO|FIXME|XXX)"
_NOTE = "(?:TODO|TBD|TBC|FIXME|XXX)"
_BEGINS = r"(?:^|(?<=[.!?;|(\[\n])|(?<=[.!?;:|(–—-] )) *"
_VERBS = (
    "add|check|clean|complete|decide|define|describe|document|expand|explain|fill|finish|fix|give|"
    "how|implement|improve|insert|link|list|make|mention|more|move|name|provide|put|remove|replace|"
    "rewrite|say|show|tell|test|this|update|what|why|write"
)
_MARKER = re.compile(
    rf"{_BEGINS}{_NOTE}\b(?=\s*(?:[:!?…]|\.(?!\w)|\([^()\n]*\)\s*(?::|\.?$)|$|\n))"
    rf"|{_BEGINS}(?:TODO|FIXME|TBD)(?=(?: | ?[–—-] )(?:{_VERBS}|later|soon)\b)"
    rf"|(?<=[(\[])(?:TBD|TBC)(?=[)\]])"
    rf"|\b(?:is|are|be|remains?|still|=) {_NOTE}(?=\s*(?:[,;)\]!]|\.(?!\w)|$))"
    rf"|(?<![`'\"“‘,/])\b{_NOTE}: (?!and\b|or\b)(?=\w)"
    rf"|^[^\w`]*(?:{_NOTE}|(?i:tbd|tbc))[^\w`]*$"
    r"|^[(\[]?(?:todo|fixme|tbd): ?(?=(?:complete|describe|document|explain|fill|write)\b)"
    r"|^(?i:lorem ipsum)\b|\b(?i:lorem ipsum)(?= dolor)",
)
_ONE_NOTE = re.compile(_NOTE, re.IGNORECASE)
_LONE = re.compile(rf"\W*({_PLACEHOLDER_TAG})\W*")
_DUMMY = re.compile(
    r"\W*(?:(?:a |an |the |some |your )?(?:description|summary|text|string)(?: (?:here|goes here))?"
    r"|placeholder|todo|tbd|n/a|none|foo|bar|baz|x+|\.{3}|…|fill (?:me )?in|to be (?:done|written|"
    r"defined|decided))?\W*",
    re.IGNORECASE,
)
_WORD = re.compile(r"[a-z]{4,}")
_LATIN_TEXT = """
accumsan adipiscing aenean aliquam aliquet ante auctor augue bibendum commodo condimentum
congue consectetur convallis cras curabitur cursus dapibus diam dictum dictumst dignissim dolor
donec duis efficitur egestas eget eleifend elementum elit enim erat etiam euismod facilisi
facilisis fames faucibus felis fermentum feugiat finibus fringilla fusce gravida habitant
habitasse hendrerit iaculis imperdiet interdum ipsum lacinia lacus laoreet lectus
ligula lobortis lorem luctus maecenas magna malesuada mattis mauris maximus metus
molestie mollis morbi nascetur netus nibh nisl nullam nunc odio orci ornare pellentesque
pharetra phasellus placerat platea porttitor posuere potenti praesent pretium proin
pulvinar purus quam quis quisque rhoncus risus rutrum sagittis sapien scelerisque semper
senectus sodales sollicitudin suscipit suspendisse tellus tempor tempus tincidunt tortor
tristique turpis ullamcorper ultrices ultricies urna vehicula velit venenatis vestibulum vitae
vivamus viverra volutpat vulputate
"""
_LATIN = frozenset(_LATIN_TEXT.split())
_LATIN_WORDS = 5


def placeholder_in(text: str) -> str:
    """Return what in a running text is a placeholder, or the empty string."""
    if marker := _MARKER.search(text):
        note = _ONE_NOTE.search(marker.group())
        return note.group() if note else marker.group()
    latin = dict.fromkeys(word for word in _WORD.findall(text.lower()) if word in _LATIN)
    return "pseudo-Latin: " + " ".join(list(latin)[:3]) if len(latin) >= _LATIN_WORDS else ""


def stands_for_text(text: str) -> str:
    """Return why a description says nothing, or the empty string; an empty one says nothing."""
    if not text.strip():
        return "empty"
    if len(text) < 60 and _DUMMY.fullmatch(text):
        return text.strip()
    return placeholder_in(text)


def lone_tag(text: str) -> str:
    """Return the tag that is all of a text (TODO, FIXME, XXX), or the empty string."""
    lone = _LONE.fullmatch(text)
    return lone[1] if lone else ""
