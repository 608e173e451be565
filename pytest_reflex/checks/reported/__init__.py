"""What other tools report: one file per form of report, and the counting of findings."""
