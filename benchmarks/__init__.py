"""Benchmarks as ratios against something measured in the same run; never timed tests."""
