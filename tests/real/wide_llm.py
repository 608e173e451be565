"""The tool `llm` with more room for SmolLM2: run by the Python of .real/llm, not by ours.

The package gives the model a window of 512 tokens and lets it repeat itself to the end of it.
"""

from __future__ import annotations

from typing import Any

import llama_cpp  # type: ignore[import-not-found]

_WINDOW, _ANSWER, _PENALTY = 2048, 260, 1.15


class _Wide(llama_cpp.Llama):  # type: ignore[misc]
    def __init__(self, model_path: str, **options: Any) -> None:
        super().__init__(model_path, n_ctx=_WINDOW, **options)

    def create_chat_completion(self, **options: Any) -> Any:
        bounded = {"max_tokens": _ANSWER, "repeat_penalty": _PENALTY}
        return super().create_chat_completion(**bounded, **options)


llama_cpp.Llama = _Wide

if __name__ == "__main__":
    from llm.cli import cli  # type: ignore[import-not-found]

    cli()
