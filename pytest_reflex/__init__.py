"""Rules become pytest checks, checks become a verdict, the verdict drives a loop."""

__version__ = "0.1.0"
