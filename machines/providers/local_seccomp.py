"""The system calls that a local machine's commands are refused, as a BPF program.

bubblewrap loads it from a file descriptor (`--seccomp`), just before the command starts. A refused
call fails with EPERM. An instruction is the kernel's `struct sock_filter`: u16 code, u8 jt, u8 jf,
u32 k.
"""

import platform
import struct

from machines.providers.base import Unsupported

_LOAD = 0x20  # BPF_LD | BPF_W | BPF_ABS
_IF_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_IF_AT_LEAST = 0x35  # BPF_JMP | BPF_JGE | BPF_K
_RETURN = 0x06  # BPF_RET | BPF_K

_ALLOW = 0x7FFF0000
_KILL_PROCESS = 0x80000000
_REFUSE = 0x00050000 | 1  # SECCOMP_RET_ERRNO | EPERM

_AT_NUMBER, _AT_ARCH, _AT_ARG0, _AT_ARG1 = 0, 4, 16, 24

_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_BIT = 0x40000000

# name: (x86_64, aarch64); -1 where the architecture has no such call.
_REFUSED: dict[str, tuple[int, int]] = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bpf": (321, 280),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "finit_module": (313, 273),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "init_module": (175, 105),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioperm": (173, -1),
    "iopl": (172, -1),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "lookup_dcookie": (212, 18),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "move_pages": (279, 239),
    "name_to_handle_at": (303, 264),
    "nfsservctl": (180, 42),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "pivot_root": (155, 41),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "setns": (308, 268),
    "settimeofday": (164, 170),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "vhangup": (153, 58),
}
# Memory that belongs to no process while nobody maps it: a watch over the processes' own memory
# can't see it, so that only a control group bounds it.
_REFUSED_WHEN_WATCHED: dict[str, tuple[int, int]] = {
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "msgget": (68, 186),
    "shmget": (29, 194),
}
_SOCKET = (41, 198)
_IOCTL = (16, 29)

# Families that a network namespace doesn't fence (AF_VSOCK reaches a virtual machine's host), or
# that are nothing but kernel surface (AF_ALG), are left out: unix, inet, inet6, netlink.
_SOCKET_FAMILIES = (1, 2, 10, 16)
# Typing into the terminal that a command was started from: TIOCSTI, TIOCLINUX.
_REFUSED_IOCTLS = (0x5412, 0x541C)


def refusing_filter(machine: str | None = None, *, memory_watched: bool) -> bytes:
    """The program for an architecture ("x86_64" or "aarch64"; None: this one).

    `memory_watched`: no control group bounds the memory, so that what the watch over it can't see
    is refused as well.

    Raises Unsupported on any other.
    """
    machine = machine or platform.machine()
    if machine not in _ARCH:
        raise Unsupported(f"Local machines need x86_64 or aarch64; this host is {machine}.")
    column = 0 if machine == "x86_64" else 1
    refused = _REFUSED | (_REFUSED_WHEN_WATCHED if memory_watched else {})
    numbers = sorted(pair[column] for pair in refused.values() if pair[column] >= 0)
    program = [
        _op(_LOAD, _AT_ARCH),
        _op(_IF_EQUAL, _ARCH[machine], yes=1),
        _op(_RETURN, _KILL_PROCESS),
        _op(_LOAD, _AT_NUMBER),
    ]
    if machine == "x86_64":
        program += [_op(_IF_AT_LEAST, _X32_BIT, no=1), _op(_RETURN, _REFUSE)]
    for number in numbers:
        program += [_op(_IF_EQUAL, number, no=1), _op(_RETURN, _REFUSE)]
    program += _only_families(_SOCKET[column])
    program += _without_ioctls(_IOCTL[column])
    program.append(_op(_RETURN, _ALLOW))
    return b"".join(program)


def _only_families(socket_number: int) -> list[bytes]:
    """For `socket`: let the listed families through, refuse every other."""
    body = [_op(_LOAD, _AT_ARG0)]
    for family in _SOCKET_FAMILIES:
        body += [_op(_IF_EQUAL, family, no=1), _op(_RETURN, _ALLOW)]
    body.append(_op(_RETURN, _REFUSE))
    return [_op(_IF_EQUAL, socket_number, no=len(body)), *body]


def _without_ioctls(ioctl_number: int) -> list[bytes]:
    """For `ioctl`: refuse the listed requests."""
    body = [_op(_LOAD, _AT_ARG1)]
    for request in _REFUSED_IOCTLS:
        body += [_op(_IF_EQUAL, request, no=1), _op(_RETURN, _REFUSE)]
    return [_op(_IF_EQUAL, ioctl_number, no=len(body)), *body]


def _op(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)
