"""From files to rules: reading, normalising, templates and suites, with every place kept."""
