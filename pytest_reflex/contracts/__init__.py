"""What crosses a border: JSON Schemas, validation, and JSON found in an agent's text."""
