"""Where the frames of a WebSocket begin: told before they are parsed, which costs many times as much (RFC 6455)."""

from __future__ import annotations

__all__ = ["FrameHeads"]


class FrameHeads:
    """Counts frames in bytes that come in pieces of any size."""

    def __init__(self) -> None:
        self._head = bytearray()  # of the next frame, until it is whole
        self._left = 0  # of the present frame
        self.count = 0

    def end_of_frame(self, data: bytes, at: int) -> int:
        """Where the frame that is going on, or begins, at `at` ends in `data`, or `data` does."""
        if not self._left:
            at = self._read_head(data, at)
        end = min(len(data), at + self._left)
        self._left -= end - at
        return end

    def _read_head(self, data: bytes, at: int) -> int:
        head = self._head
        while (missing := _length_of_head(head) - len(head)) > 0:
            if at == len(data):
                return at
            head += data[at : at + missing]
            at = min(len(data), at + missing)
        self.count += 1
        self._left = _length_of_rest(head)
        head.clear()
        return at


def _length_of_head(head: bytearray) -> int:
    """Of the first two bytes and the length; what unmasks the rest counts with the rest."""
    if len(head) < 2:
        return 2
    return {126: 4, 127: 10}.get(head[1] & 0x7F, 2)


def _length_of_rest(head: bytearray) -> int:
    length = head[1] & 0x7F if len(head) == 2 else int.from_bytes(head[2:], "big")
    return length + (4 if head[1] & 0x80 else 0)
