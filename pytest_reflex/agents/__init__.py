"""Whatever makes or mends an artifact: offline, a command, and the prompts they are given."""
