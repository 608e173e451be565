"""Lint of criteria: every error with its place, and warnings for what reads right but is not."""
