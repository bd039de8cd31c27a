"""JSON that is made in steps: a struct is encoded once, with gaps for what is not known yet or differs by viewer.

    class Status(msgspec.Struct):
        id: str
        favourited: bool

    template = Template.of(Status("1", favourited=gap("favourited")))
    template.fill({"favourited": b"true"}).whole()      # {"id":"1","favourited":true}

A gap stands for the value of the key that it is named after. It is encoded as a mark that cannot occur in JSON, at
which the bytes are split; so the struct alone says which keys there are, and in which order.
"""

from __future__ import annotations

from collections.abc import Mapping
from sys import intern
from typing import Any

import msgspec

__all__ = ["Settled", "Template", "gap", "together"]

_MARK = b"\0"  # the encoder writes this character as an escape
_PIECE_BYTES = 50  # what a piece and its name cost besides what is in it
_GAP_BYTES = 130
_encode = msgspec.json.Encoder().encode


def gap(name: str) -> Any:
    """In a struct, in the place of the value of the key `name`."""
    return msgspec.Raw(_MARK + name.encode() + _MARK)


class Settled(msgspec.Struct, frozen=True, gc=False):
    """JSON in which every gap has its usual value, and where each of them is."""

    usual: bytes
    gaps: tuple[tuple[str, int, int], ...]  # name, beginning and end of its value

    @property
    def size(self) -> int:
        """What it takes in memory, about."""
        return len(self.usual) + _GAP_BYTES * len(self.gaps)

    def but(self, values: Mapping[str, bytes]) -> bytes:
        """With these values instead of the usual ones; a name that has no gap here is left out."""
        parts = list[bytes]()
        at, usual = 0, self.usual
        for name, start, end in self.gaps:
            value = values.get(name)
            if value is not None:
                parts += (usual[at:start], value)
                at = end
        parts.append(usual[at:])
        return b"".join(parts)


class Template(msgspec.Struct, frozen=True, gc=False):
    """JSON with gaps between its pieces; `names[n]` is the gap behind `pieces[n]`."""

    pieces: tuple[bytes, ...]
    names: tuple[str, ...]

    @classmethod
    def of(cls, value: msgspec.Struct) -> Template:
        parts = _encode(value).split(_MARK)
        return cls(tuple(parts[::2]), tuple(intern(name.decode()) for name in parts[1::2]))

    @property
    def size(self) -> int:
        """What it takes in memory, about."""
        return sum(map(len, self.pieces)) + _PIECE_BYTES * len(self.pieces)

    def fill(self, values: Mapping[str, bytes | Template]) -> Template:
        """With some of the gaps closed. What is given as a template brings its own gaps with it."""
        pieces, names = [self.pieces[0]], list[str]()
        for name, piece in zip(self.names, self.pieces[1:], strict=True):
            value = values.get(name)
            if value is None:
                names.append(name)
                pieces.append(piece)
            elif isinstance(value, Template):
                pieces[-1] += value.pieces[0]
                pieces += value.pieces[1:]
                names += value.names
                pieces[-1] += piece
            else:
                pieces[-1] += value + piece
        return Template(tuple(pieces), tuple(names))

    def without(self, *keys: str) -> Template:
        """Without some of the gaps and their keys. The first key of an object cannot be left out."""
        pieces, names = [self.pieces[0]], list[str]()
        for name, piece in zip(self.names, self.pieces[1:], strict=True):
            if name in keys:
                pieces[-1] = pieces[-1].removesuffix(b',"%b":' % name.encode()) + piece
            else:
                names.append(name)
                pieces.append(piece)
        return Template(tuple(pieces), tuple(names))

    def up_to(self, last: str) -> Template:
        """Without its last gap and what closes the object behind it: for a value that many have in common."""
        if self.names[-1] != last or self.pieces[-1] != b"}":
            raise ValueError(f"{last} does not come last")
        return Template(self.pieces[:-1], self.names[:-1])

    def whole(self) -> bytes:
        """The JSON, when no gap is left."""
        if self.names:
            raise ValueError(f"nothing was given for {', '.join(self.names)}")
        return self.pieces[0]

    def settle(self, usual: Mapping[str, bytes]) -> Settled:
        """Every gap that is left closed with its usual value."""
        parts, gaps, at = [self.pieces[0]], [], len(self.pieces[0])
        for name, piece in zip(self.names, self.pieces[1:], strict=True):
            value = usual[name]
            gaps.append((name, at, at + len(value)))
            parts += (value, piece)
            at += len(value) + len(piece)
        return Settled(b"".join(parts), tuple(gaps))


def together(whole: bytes, more: msgspec.Struct) -> bytes:
    """An object that is encoded already, with the keys of another behind its own."""
    added = _encode(more)
    return b"%b,%b" % (whole[:-1], added[1:])
