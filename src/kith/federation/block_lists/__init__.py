"""Lists of servers to block that others keep and the team has subscribed to."""
