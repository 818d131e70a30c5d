"""Numbers of system calls, and wrappers for the few that Python lacks."""

from __future__ import annotations

import ctypes
import os
import platform

PR_SET_PDEATHSIG = 1
# name: (x86_64, aarch64); None if the architecture does not have it
NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bpf": (321, 280),
    "capset": (126, 91),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "clone": (56, 220),
    "clone3": (435, 435),
    "connect": (42, 203),
    "delete_module": (176, 106),
    "execve": (59, 221),
    "execveat": (322, 281),
    "fallocate": (285, 47),
    "fanotify_init": (300, 262),
    "finit_module": (313, 273),
    "fork": (57, None),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "init_module": (175, 105),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioctl": (16, 29),
    "ioperm": (173, None),
    "iopl": (172, None),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "kill": (62, 129),
    "link": (86, None),
    "linkat": (265, 37),
    "lookup_dcookie": (212, 18),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "modify_ldt": (154, None),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "mq_open": (240, 180),
    "msgget": (68, 186),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "personality": (135, 92),
    "pidfd_getfd": (438, 438),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "pivot_root": (155, 41),
    "prctl": (157, 167),
    "prlimit64": (302, 261),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "sendto": (44, 206),
    "semget": (64, 190),
    "setdomainname": (171, 162),
    "setfsgid": (123, 152),
    "setfsuid": (122, 151),
    "setgid": (106, 144),
    "setgroups": (116, 159),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "setpgid": (109, 154),
    "setregid": (114, 143),
    "setresgid": (119, 149),
    "setresuid": (117, 147),
    "setreuid": (113, 145),
    "setsid": (112, 157),
    "settimeofday": (164, 170),
    "setuid": (105, 146),
    "shmget": (29, 194),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "symlink": (88, None),
    "symlinkat": (266, 36),
    "syslog": (103, 116),
    "tgkill": (234, 131),
    "tkill": (200, 130),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "vfork": (58, None),
    "vhangup": (153, 58),
}
ARCHITECTURES = ("x86_64", "aarch64")
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # of Landlock, on every architecture
SECCOMP = (317, 277)

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def architecture() -> int | None:
    """Returns the index into the numbers; None for an architecture that is not listed."""
    machine = platform.machine()
    return ARCHITECTURES.index(machine) if machine in ARCHITECTURES else None


def syscall(number: int, *arguments: object) -> int:
    """Raises OSError."""
    return _checked(_libc.syscall(ctypes.c_long(number), *arguments))


def prctl(option: int, value: int = 0, *more: int) -> int:
    """Raises OSError."""
    rest = [ctypes.c_ulong(one) for one in (*more, 0, 0, 0)[:3]]
    return _checked(_libc.prctl(ctypes.c_int(option), ctypes.c_ulong(value), *rest))


def unshare(flags: int) -> None:
    """Raises OSError."""
    _checked(_libc.unshare(ctypes.c_int(flags)))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
