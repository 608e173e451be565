"""For authors of criteria: fixes, samples, proofs, schemas, new files."""
