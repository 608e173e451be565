"""From check results to score, gate and stop: pure functions with exact arithmetic."""
