"""The iteration loop: a fresh process of an AI tool for each round, under limits and gates."""
