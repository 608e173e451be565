"""Durable state: files replaced whole, a journal that is appended to, locks, deltas."""
