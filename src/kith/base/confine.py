"""What a parser or decoder that has been tricked can still do: very little, and not for long."""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import signal
import struct
import sys

_PR_SET_PDEATHSIG = 1
_PR_SET_SECCOMP = 22
_PR_SET_NO_NEW_PRIVS = 38
_MODE_FILTER = 2

_LOAD = 0x20  # load a word of the call's description
_IF_EQUAL = 0x15
_IF_AT_LEAST = 0x35
_RETURN = 0x06
_ALLOW = 0x7FFF0000
_REFUSE = 0x00050000 | 1  # EPERM
_KILL = 0x80000000
_OTHER_TABLE = 0x40000000  # calls of x32, which would go by other numbers

# socket, socketpair, connect, bind, listen, accept, accept4, sendto, execve, execveat, ptrace, kill, tkill,
# process_vm_readv, process_vm_writev, io_uring_setup, unshare, setns, mount, bpf
_CALLS: dict[str, tuple[int, tuple[int, ...]]] = {
    "x86_64": (
        0xC000003E,
        (41, 53, 42, 49, 50, 43, 288, 44, 59, 322, 101, 62, 200, 310, 311, 425, 272, 308, 165, 321),
    ),
    "aarch64": (
        0xC00000B7,
        (198, 199, 203, 200, 201, 202, 242, 206, 221, 281, 117, 129, 130, 270, 271, 425, 97, 268, 40, 280),
    ),
}


def confine(*, memory: int, seconds: int, file_bytes: int) -> None:
    """Take away from this process, for good, what reading one thing from outside does not need."""
    os.umask(0o077)
    for what, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, file_bytes),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (most, most))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 2))
    os.nice(10)
    if sys.platform == "linux":
        _end_with_parent()
        _refuse_calls()


def _end_with_parent() -> None:
    parent = os.getppid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_void_p))


def _refuse_calls() -> None:
    """No network and no other programs. A system that knows no such filter leaves the other limits in force."""
    known = _CALLS.get(platform.machine())
    if known is None:
        return
    steps = _filter(*known)
    buffer = ctypes.create_string_buffer(steps, len(steps))
    program = _Program(len(steps) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    libc = ctypes.CDLL(None)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0:
        libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(program), 0, 0)


def _filter(architecture: int, refused: tuple[int, ...]) -> bytes:
    """A program for the kernel: kill what speaks another dialect, refuse the listed calls, allow the rest."""
    count = len(refused)
    steps = [
        (_LOAD, 0, 0, 4),
        (_IF_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, 0),
        (_IF_AT_LEAST, count + 1, 0, _OTHER_TABLE),
        *((_IF_EQUAL, count - place, 0, call) for place, call in enumerate(refused)),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _REFUSE),
    ]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
