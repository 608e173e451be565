"""A sample of a rule: an artifact in small that stands in the criteria themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Sample:
    """A file with its text, or a folder of such files.

    Names are relative and written with slashes. The one name of a file is empty where the file may
    have any.
    """

    files: Mapping[str, str]
    is_folder: bool = False

    @classmethod
    def of_text(cls, text: str, name: str = "") -> Sample:
        """Return the sample that is one file."""
        return cls({name: text})

    def to_plain(self) -> str | dict[str, Any]:
        """Return it as criteria write it: a text, or a mapping of `file` and `text`, or `files`."""
        if self.is_folder:
            return {"files": dict(self.files)}
        ((name, text),) = self.files.items()
        return {"file": name, "text": text} if name else text
