"""Properties of verdicts: they are of the bytes that they name, and no fault makes one better."""
