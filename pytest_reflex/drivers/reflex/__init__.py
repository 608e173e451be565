"""The Reflex loop: plan, produce, evaluate, critique and refine until an artifact passes."""
