"""How a database came to its shape: one straight chain, newest last."""

HEAD = "0003"
