"""Checks of type `findings`: reports of other tools, and which of their findings count."""
