"""Files that must not change while something is judged: patterns, hashes, what changed."""
