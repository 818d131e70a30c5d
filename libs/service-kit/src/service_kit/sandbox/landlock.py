"""Landlock (Linux 5.13): a process gives up TCP, signals to others, and all files but those it names."""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable
from pathlib import Path

from service_kit.sandbox.syscalls import ADD_RULE, CREATE_RULESET, RESTRICT_SELF, syscall

CREATE_RULESET_VERSION = 1
RULE_PATH_BENEATH = 1
EXECUTE, WRITE_FILE, READ_FILE, READ_FOLDER = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REMOVE_FOLDER, REMOVE_FILE, MAKE_FOLDER, MAKE_FILE, MAKE_SOCKET = 1 << 4, 1 << 5, 1 << 7, 1 << 8, 1 << 9
TRUNCATE = 1 << 14
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
# No links, devices or pipes, which could lead a later reader of the folder elsewhere.
CHANGE = WRITE_FILE | REMOVE_FOLDER | REMOVE_FILE | MAKE_FOLDER | MAKE_FILE | TRUNCATE
READ = READ_FILE | READ_FOLDER
TCP = 0b11  # bind, connect
SCOPES = 0b11  # abstract sockets and signals only reach processes with the same ruleset
# The file rights that each version knows, from version 1 on.
KNOWN = [(1 << bits) - 1 for bits in (13, 14, 15, 15, 16)]
WITH_TCP, WITH_SCOPES = 4, 6


def version() -> int:
    """Returns the ABI version. Raises OSError if the kernel has no Landlock or it is off."""
    return syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint(CREATE_RULESET_VERSION))


class Ruleset:
    """Collects what stays allowed. Paths that do not exist are skipped."""

    def __init__(self) -> None:
        """Raises OSError."""
        self._version = version()
        self._known = KNOWN[min(self._version, len(KNOWN)) - 1]
        fields = [self._known]
        if self._version >= WITH_TCP:
            fields.append(TCP)
        if self._version >= WITH_SCOPES:
            fields.append(SCOPES)
        attributes = struct.pack(f"={len(fields)}Q", *fields)
        self._rules = syscall(CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint(0))

    def allow(self, paths: Iterable[Path], rights: int) -> None:
        """Raises OSError."""
        for path in paths:
            try:
                opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue  # missing on this machine, or not readable anyway
            try:
                self._allow(opened, rights)
            finally:
                os.close(opened)

    def _allow(self, opened: int, rights: int) -> None:
        allowed = rights & self._known
        if not stat.S_ISDIR(os.fstat(opened).st_mode):
            allowed &= OF_FILES
        rule = struct.pack("=Qi", allowed, opened)
        syscall(ADD_RULE, ctypes.c_int(self._rules), ctypes.c_int(RULE_PATH_BENEATH), rule, ctypes.c_uint(0))

    def enforce(self) -> None:
        """Restricts this process and those that it starts, for good. Needs no-new-privileges. Raises OSError."""
        syscall(RESTRICT_SELF, ctypes.c_int(self._rules), ctypes.c_uint(0))
        os.close(self._rules)
