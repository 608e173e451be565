"""Kinds of structure checks that read JSON, YAML and TOML."""
