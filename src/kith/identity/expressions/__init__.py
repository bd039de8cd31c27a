"""Small programs that administrators write: checked when saved, run in a sandbox, never trusted.

Whoever wants one run asks `run.Expressions`; nothing else here knows which interpreter does the work.
"""
