"""Documents to and from our rows, as pure functions."""
