"""XML without its dangers: no document type, no entities of its own, bounded depth."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NoReturn

from pytest_reflex.checks.reported.finding import UnreadableError

MAX_DEPTH = 100


@dataclass(slots=True)
class Element:
    """An element with its attributes, its children, and the text directly in it."""

    name: str
    attributes: dict[str, str]
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def below(self, *names: str) -> list[Element]:
        """Return the children of these names."""
        return [child for child in self.children if child.name in names]


def read_xml(data: bytes) -> Element:
    """Return the root of an XML document; raises UnreadableError where it is none."""
    from xml.parsers.expat import ExpatError, ParserCreate

    if not data.strip():
        raise UnreadableError("the report is empty")
    top = Element("", {})
    open_elements = [top]

    def start(name: str, attributes: dict[str, str]) -> None:
        if len(open_elements) > MAX_DEPTH:
            raise UnreadableError(f"the report is nested deeper than {MAX_DEPTH} levels")
        element = Element(name.rpartition(":")[2], attributes)
        open_elements[-1].children.append(element)
        open_elements.append(element)

    def text(words: str) -> None:
        open_elements[-1].text += words

    parser = ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda name: open_elements.pop()
    parser.CharacterDataHandler = text
    parser.StartDoctypeDeclHandler = _refuse
    try:
        parser.Parse(data.lstrip(), True)
    except ExpatError as error:
        raise UnreadableError(f"the report is not XML: {error}") from None
    except (LookupError, ValueError) as error:
        raise UnreadableError(str(error)) from None
    return top.children[0]


def number_in(element: Element, name: str) -> int:
    """Return an attribute that is a whole number >= 0; 0 where there is none."""
    value = element.attributes.get(name, "").strip()
    return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else 0


def _refuse(*_: Any) -> NoReturn:
    raise UnreadableError("the report declares a document type (DOCTYPE), which is not read")
