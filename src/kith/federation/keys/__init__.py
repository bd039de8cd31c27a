"""Keys: those our actors sign with, and those that others publish."""
