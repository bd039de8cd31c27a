"""Small programs that administrators write: checked when saved, run in a sandbox, never trusted.

They are run with `run.Expressions`; only `sandbox` and `syntax_check` know the interpreter.
"""
