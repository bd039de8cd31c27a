from __future__ import annotations

BROKEN = "File type of uploaded media could not be verified"


class RefusedFile(Exception):  # noqa: N818 - a verdict on a file, in words for its owner
    """The file is not taken; the words are for whoever sent it."""
