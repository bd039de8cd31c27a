"""Which other servers we talk to, and which of their people are heard."""
