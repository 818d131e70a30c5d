"""Refuses system calls that reading a file never needs (seccomp, classic BPF).

It is a deny list, because the readers' native libraries differ too much between machines for an allow list. The refused
calls reach rarely used parts of the kernel, other processes, or the network.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from dataclasses import dataclass

from service_kit.sandbox.syscalls import NUMBERS, SECCOMP, architecture, syscall

SET_MODE_FILTER = 1
AUDIT_ARCHITECTURES = (0xC000003E, 0xC00000B7)
X32_BIT = 0x40000000
ALLOW, KILL_PROCESS = 0x7FFF0000, 0x80000000
REFUSE = 0x00050000 | errno.EPERM
UNKNOWN = 0x00050000 | errno.ENOSYS  # libc then falls back to the older call, whose flags can be inspected
LOAD, EQUAL, ANY_BIT, AND, RETURN = 0x20, 0x15, 0x45, 0x54, 0x06
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data; arguments have 8 bytes

NAMESPACES = 0x7E020080  # CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
CLONE_THREAD = 0x00010000
AF_UNIX, SOCK_STREAM, SOCKET_TYPE = 1, 1, 0xF
TIOCSTI, TIOCLINUX = 0x5412, 0x541C
# PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_KEEPCAPS, PR_SET_MM, PR_SET_CHILD_SUBREAPER, PR_SET_PTRACER
REFUSED_PRCTL = (1, 4, 8, 35, 36, 0x59616D61)

ALWAYS = (
    # other processes, and this one's memory from outside
    *("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "kcmp"),
    *("pidfd_open", "pidfd_getfd", "pidfd_send_signal", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "tkill"),
    # rights, namespaces, mounts, identity
    *("unshare", "setns", "mount", "umount2", "pivot_root", "chroot", "fsopen", "fsconfig", "fsmount", "fspick"),
    *("move_mount", "open_tree", "mount_setattr", "name_to_handle_at", "open_by_handle_at", "capset", "personality"),
    *("setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setgroups", "setfsuid", "setfsgid"),
    *("setsid", "setpgid"),
    # large or rarely used parts of the kernel
    *("bpf", "userfaultfd", "perf_event_open", "keyctl", "add_key", "request_key", "fanotify_init", "lookup_dcookie"),
    *("io_uring_setup", "io_uring_enter", "io_uring_register", "kexec_load", "kexec_file_load", "init_module"),
    *("finit_module", "delete_module", "swapon", "swapoff", "reboot", "settimeofday", "clock_settime"),
    *("clock_adjtime", "adjtimex", "acct", "quotactl", "quotactl_fd", "syslog", "iopl", "ioperm", "modify_ldt"),
    *("sethostname", "setdomainname", "vhangup", "memfd_secret"),
)
WITHOUT_PROGRAMS = (
    # no programs, no processes, no sockets except those passed in, no memory that is not counted, no disk space
    # reserved faster than it is written
    *("execve", "execveat", "fork", "vfork", "socket", "connect", "memfd_create", "fallocate"),
    *("shmget", "msgget", "semget", "mq_open", "symlink", "symlinkat", "link", "linkat", "mknod", "mknodat"),
)
WITH_PROGRAMS = ("connect", "mq_open", "mknod", "mknodat")


@dataclass(frozen=True)
class _Instruction:
    code: int
    value: int
    if_true: int = 0
    if_false: int = 0

    def packed(self) -> bytes:
        return struct.pack("=HBBI", self.code, self.if_true, self.if_false, self.value)


class Filter:
    """`programs`: the process may start programs (LibreOffice), which signal each other and need a socket."""

    def __init__(self, programs: bool) -> None:
        machine = architecture()
        if machine is None:
            raise OSError(errno.ENOSYS, "this processor's system calls are not listed")
        self._machine = machine
        self._programs = programs

    def install(self) -> None:
        """Filters this process's calls from now on, and those of its children. Needs no-new-privileges.

        Raises OSError.
        """
        program = b"".join(one.packed() for one in self._instructions())
        buffer = ctypes.create_string_buffer(program, len(program))
        header = struct.pack("@HP", len(program) // 8, ctypes.addressof(buffer))
        syscall(SECCOMP[self._machine], SET_MODE_FILTER, 0, header)

    def _instructions(self) -> list[_Instruction]:
        found = [
            _Instruction(LOAD, ARCHITECTURE),
            _Instruction(EQUAL, AUDIT_ARCHITECTURES[self._machine], 1, 0),
            _Instruction(RETURN, KILL_PROCESS),
            _Instruction(LOAD, NUMBER),
        ]
        if self._machine == 0:
            found += [_Instruction(ANY_BIT, X32_BIT, 0, 1), _Instruction(RETURN, REFUSE)]
        for name in (*ALWAYS, *(WITH_PROGRAMS if self._programs else WITHOUT_PROGRAMS)):
            found += self._on(name, [_Instruction(RETURN, REFUSE)])
        found += self._on("clone3", [_Instruction(RETURN, UNKNOWN)])
        for name, body in self._by_argument():
            found += self._on(name, [*body, _Instruction(RETURN, ALLOW)])
        return [*found, _Instruction(RETURN, ALLOW)]

    def _on(self, name: str, body: list[_Instruction]) -> list[_Instruction]:
        """Returns instructions that run `body`, which returns, for this call. The accumulator keeps its number."""
        number = NUMBERS[name][self._machine]
        return [] if number is None else [_Instruction(EQUAL, number, 0, len(body)), *body]

    def _by_argument(self) -> list[tuple[str, list[_Instruction]]]:
        new_process = [] if self._programs else _unless_any_bit(0, CLONE_THREAD)
        own = os.getpid()
        signals = [] if self._programs else [(name, _unless(0, own)) for name in ("kill", "tgkill")]
        sockets = [("socket", [*_unless(0, AF_UNIX), *_unless(1, SOCK_STREAM, SOCKET_TYPE)])] if self._programs else []
        return [
            ("clone", [*_if_any_bit(0, NAMESPACES), *new_process]),
            ("prctl", [each for option in REFUSED_PRCTL for each in _if(0, option)]),
            ("prlimit64", _unless(0, 0)),
            ("socketpair", _unless(0, AF_UNIX)),
            ("ioctl", [*_if(1, TIOCSTI), *_if(1, TIOCLINUX)]),
            *signals,
            *sockets,
        ]


def _load(argument: int) -> _Instruction:
    """Loads an argument's lower half: the kernel reads these arguments as 32 bits, or has no flags above them."""
    return _Instruction(LOAD, FIRST_ARGUMENT + 8 * argument)


def _if(argument: int, value: int) -> list[_Instruction]:
    return [_load(argument), _Instruction(EQUAL, value, 0, 1), _Instruction(RETURN, REFUSE)]


def _unless(argument: int, value: int, mask: int | None = None) -> list[_Instruction]:
    masked = [] if mask is None else [_Instruction(AND, mask)]
    return [_load(argument), *masked, _Instruction(EQUAL, value, 1, 0), _Instruction(RETURN, REFUSE)]


def _if_any_bit(argument: int, bits: int) -> list[_Instruction]:
    return [_load(argument), _Instruction(ANY_BIT, bits, 0, 1), _Instruction(RETURN, REFUSE)]


def _unless_any_bit(argument: int, bits: int) -> list[_Instruction]:
    return [_load(argument), _Instruction(ANY_BIT, bits, 1, 0), _Instruction(RETURN, REFUSE)]
