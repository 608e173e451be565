"""The only room that starts processes: one command under a deadline, or several at once."""
