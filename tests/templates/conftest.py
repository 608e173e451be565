"""The documents of the corpus are judged, not run; one of them has tests of its own."""

collect_ignore_glob = ["corpus/*"]
