"""What is known of backups: each run and each rehearsal, when the next is due, and the job that starts it.

How a backup is made is in `kith.backup`, which a process of its own loads.
"""
