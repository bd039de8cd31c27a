"""/admin: the console of those who run the server. Who may see and change what is decided by the APIs behind it."""
