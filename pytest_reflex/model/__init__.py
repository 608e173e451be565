"""Frozen values and enums; standard library only."""
