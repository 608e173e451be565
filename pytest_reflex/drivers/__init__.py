"""The loops: each decides, performs and applies; one frame, `common`, does the rest."""
