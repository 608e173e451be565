"""The frame that every driver stands on."""
