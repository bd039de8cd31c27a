"""The applications behind the gateway: connections to them, kept for a while, over which everything is streamed."""
