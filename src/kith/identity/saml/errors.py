"""What is wrong with a message. The words are for the administrator of the other side."""

from __future__ import annotations


class SAMLError(Exception):
    """A message that is refused. `words` say why; they never depend on a secret."""

    is_hostile = False

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.words = words


class HostileMessage(SAMLError):  # noqa: N818 - an answer
    """A message that no honest software writes: it is recorded as suspicious."""

    is_hostile = True


class BadSignature(SAMLError):  # noqa: N818 - an answer
    """A signature is missing, wrong, or made with an algorithm that is not allowed."""

    is_hostile = True
