"""The stock templates on documents of published packages, and what readers say to each finding.

`packages.toml` names the packages and their documents, `judgements.jsonl` has a line for each
finding. The documents themselves are fetched when they are needed and are never a part of this
repository.
"""
