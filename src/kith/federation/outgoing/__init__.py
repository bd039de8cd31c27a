"""What people here do, told to the servers that it concerns."""
