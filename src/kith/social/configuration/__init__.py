"""What the team sets in the social half, as models of blueprints."""
