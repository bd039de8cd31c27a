"""Posts of people elsewhere: stored, changed, shared and ended as their servers say, and fetched where missing."""
