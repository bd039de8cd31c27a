"""End-to-end encrypted messages between devices. The server carries keys and sealed messages and can read neither."""
