"""A scripted agent: it fixes one thing in each iteration, and is always sure that all is done.

It remembers nothing, as a fresh process of a real tool would not: what is done stands in the file.
"""

import pathlib
import sys

sys.stdin.read()  # the prompt
guide = pathlib.Path("guide.md")
text = guide.read_text()

if "## Installation" not in text:
    done = "said how tidy is installed"
    text = text.replace("## Usage", "## Installation\n\n`pipx install tidy`\n\n## Usage")
elif "tidy undo" not in text:
    done = "said how to take a run back"
    text += "\n`tidy undo` puts everything back where it was.\n"
else:
    done = "gave the command a block of its own"
    text = text.replace("Run `tidy ~/Downloads`.", "```console\n$ tidy ~/Downloads\n```")

guide.write_text(text)
sys.stdout.write(f"I have {done}.\n\n<promise>SUCCESS</promise>\n")
