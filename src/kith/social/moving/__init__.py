"""Being somewhere else from now on: other names of one person, and moving from one account to another."""
