from __future__ import annotations

NO_ROOM = 28  # the exit code of a program that found no room for what it made
BROKEN = "File type of uploaded media could not be verified"


class RefusedFile(Exception):  # noqa: N818 - a verdict on a file, in words for its owner
    """The file is not taken; the words are for whoever sent it."""
