"""Devices and encrypted messages across servers: what others ask of ours, and what ours ask of others."""
