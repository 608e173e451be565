"""The hierarchical flow: a tree of loops that measure, decide and act (seed 002)."""
