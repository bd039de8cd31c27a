"""What pages elsewhere say about themselves, read in a process of its own.

`reading` is for other rooms; `program`, `page` and `linked` run in that process only.
"""
