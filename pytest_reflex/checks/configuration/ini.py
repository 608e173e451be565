"""INI files: with sections, with settings before the first one, and with keys that repeat."""

from __future__ import annotations

import configparser
from dataclasses import dataclass
from typing import Any

from pytest_reflex.checks.configuration.key_lines import ini_lines
from pytest_reflex.text.data import Data
from pytest_reflex.text.lines import DataSyntaxError

_INDENTED = "an indented line after a key without a value"
_TOP = "\0"


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a file may do beyond what Python's own reader takes."""

    before_sections: bool = False
    repeats: bool = False


class _Repeated(dict[str, Any]):
    """A section in which a key that comes again adds to what it had."""

    def __setitem__(self, key: str, value: Any) -> None:
        if isinstance(value, list) and isinstance(self.get(key), list):
            value = [*self[key], *value]
        super().__setitem__(key, value)


def read_ini(text: str, dialect: Dialect) -> tuple[Data, ...]:
    """Return sections and settings; raises DataSyntaxError."""
    shift = int(dialect.before_sections)
    # No section is the default of the others: DEFAULT is shown as it is written.
    parser = configparser.ConfigParser(
        interpolation=None,
        allow_no_value=True,
        default_section="",
        strict=not dialect.repeats,
        dict_type=_Repeated if dialect.repeats else dict,
    )
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        parser.read_string(f"[{_TOP}]\n{text}" if shift else text)
    except configparser.DuplicateOptionError as error:
        where = "" if error.section == _TOP else f" in [{error.section}]"
        reason = f"duplicate key {error.option!r}{where}"
        raise DataSyntaxError(reason, (error.lineno or 0) - shift) from None
    except configparser.DuplicateSectionError as error:
        line = (error.lineno or 0) - shift
        raise DataSyntaxError(f"duplicate section [{error.section}]", line) from None
    except configparser.MissingSectionHeaderError as error:
        raise DataSyntaxError("a setting before the first [section]", error.lineno) from None
    except AttributeError:  # what Python before 3.13 makes of an indented line after it
        raise DataSyntaxError(_INDENTED) from None
    except configparser.ParsingError as error:
        if not hasattr(error, "errors"):
            raise DataSyntaxError(_INDENTED, getattr(error, "lineno", 0)) from None
        line = error.errors[0][0] - shift if error.errors else 0
        raise DataSyntaxError("neither a [section] nor a setting", line) from None
    value: dict[str, Any] = {}
    for name in parser.sections():
        if broken := next((key for key in parser[name] if key.startswith("[")), None):
            raise DataSyntaxError("a section without its ]", _line_of(broken, text))
        table = {key: _values(text, dialect) for key, text in parser[name].items()}
        value |= table if name == _TOP else {name: table}
    return (Data(value, "ini", text, 1, ini_lines(text, value)),)


def _line_of(start: str, text: str) -> int:
    lines = enumerate(text.splitlines(), start=1)
    return next((number for number, line in lines if line.lstrip().startswith(start)), 0)


def _values(text: str | None, dialect: Dialect) -> Any:
    if text and dialect.repeats and "\n" in text:
        return text.split("\n")
    return text
