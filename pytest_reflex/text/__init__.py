"""Finding one's way inside a text: paths into data, and the headings and fences of Markdown."""
