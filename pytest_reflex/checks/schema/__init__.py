"""JSON Schemas of rules: refused where they cannot be used, and run where they can be killed."""
