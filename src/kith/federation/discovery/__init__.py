"""How others find out who is here, and what kind of server this is."""
