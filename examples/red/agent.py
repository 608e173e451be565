"""A scripted agent: it reads its prompt, fixes one thing at a time, and needs no network.

A real one is a line of configuration: agent = "claude".
"""

import pathlib
import sys

issues = sys.stdin.read().partition("## Issues to fix")[2]
shop = pathlib.Path("shop.py")
text = shop.read_text()

if "a.correctness.total" in issues:
    text = text.replace(
        "    return sum(prices) * (1 - discount)",
        "    return round(sum(prices) * (1 - discount), 2)",
    )
elif "a.correctness.discount" in issues:
    text = text.replace(
        "    return round(",
        '    if not 0 <= discount <= 1:\n        raise ValueError("discount is not 0 to 1")\n'
        "    return round(",
    )
else:
    text = text.replace('f"{price} EUR"', 'f"{price:.2f} EUR"')

shop.write_text(text)
sys.stdout.write("fixed shop.py\n")
