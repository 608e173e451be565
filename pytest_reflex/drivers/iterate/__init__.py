"""The iteration loop: a fresh process of an AI tool for each iteration, under limits and gates."""
