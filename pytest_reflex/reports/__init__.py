"""One file per form in which results are reported."""
