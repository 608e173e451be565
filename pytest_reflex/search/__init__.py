"""Searching a text by any pattern: under a bound, or in a child that can be killed."""
