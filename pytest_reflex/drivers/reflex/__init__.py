"""The drivers: pure decisions, and the loops that perform them."""
