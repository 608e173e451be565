"""One file per kind of check, their registry, and the core that runs them."""
