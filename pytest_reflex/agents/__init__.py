"""Whatever makes or fixes an artifact: offline, a command, and the prompts they are given."""
