"""The pytest side: collect rules as items, run them, and hold the session to its gate."""
