"""Kinds of structure checks that read Markdown."""
