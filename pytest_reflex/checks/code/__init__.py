"""Checks of type `code`: source code by real tools, or by a command that the user names."""
