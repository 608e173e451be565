"""The Reflex loop around a user's own pytest session: its files are the artifact."""
