import re
import sys


def slug(text):
    return re.sub(r"[^a-z]", "-", text.lower())


if __name__ == "__main__":
    sys.stdout.write(slug(sys.argv[1]) + "\n")
