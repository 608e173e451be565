"""Text that stands where a text should be: notes to oneself, dummy words, pseudo-Latin."""

from __future__ import annotations

import re

# "A TODO list" speaks of such notes, and is none.
_MARKER = re.compile(
    r"\b(?:TODO|TBD|TBC|FIXME|XXX)\b(?![ -](?:app|comment|entr|file|item|list|marker|note|tag)\w*)"
    r"|\b(?i:lorem ipsum)\b"
)
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
        return marker.group()
    latin = dict.fromkeys(word for word in _WORD.findall(text.lower()) if word in _LATIN)
    return "pseudo-Latin: " + " ".join(list(latin)[:3]) if len(latin) >= _LATIN_WORDS else ""


def stands_for_text(text: str) -> str:
    """Return why a description says nothing, or the empty string; an empty one says nothing."""
    if not text.strip():
        return "empty"
    if len(text) < 60 and _DUMMY.fullmatch(text):
        return text.strip()
    return placeholder_in(text)
