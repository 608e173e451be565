"""Checks of type `structure`: one file per kind."""
