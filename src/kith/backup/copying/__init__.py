"""Rows of one kind of database put into the other: whole servers that move, and backups of the other kind."""
