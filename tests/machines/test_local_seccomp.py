"""The filter of system calls, run by a small machine of ours instead of the kernel's."""

import struct

import pytest

from machines.providers.base import Unsupported
from machines.providers.local_seccomp import refusing_filter

ALLOW, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050001
ARCHES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


def verdict(program: bytes, arch: int, number: int, *arguments: int) -> int:
    """What the kernel would answer to a call."""
    padded = [*arguments, 0, 0, 0, 0, 0, 0][:6]
    call = struct.pack("=iIQ6Q", number, arch, 0, *padded)
    accumulator, at = 0, 0
    while True:
        code, yes, no, value = struct.unpack_from("=HBBI", program, at * 8)
        at += 1
        if code == 0x20:
            accumulator = struct.unpack_from("=I", call, value)[0]
        elif code == 0x15:
            at += yes if accumulator == value else no
        elif code == 0x35:
            at += yes if accumulator >= value else no
        else:
            assert code == 0x06
            return int(value)


@pytest.mark.parametrize(
    ("arch", "number", "arguments", "expected"),
    [
        ("x86_64", 0, (), ALLOW),  # read
        ("x86_64", 59, (), ALLOW),  # execve
        ("x86_64", 56, (), ALLOW),  # clone
        ("x86_64", 302, (), ALLOW),  # prlimit64
        ("x86_64", 250, (), REFUSE),  # keyctl
        ("x86_64", 321, (), REFUSE),  # bpf
        ("x86_64", 425, (), REFUSE),  # io_uring_setup
        ("x86_64", 165, (), REFUSE),  # mount
        ("x86_64", 272, (), REFUSE),  # unshare
        ("x86_64", 0x40000000, (), REFUSE),  # read, by the x32 door
        ("x86_64", 0x40000000 | 250, (), REFUSE),
        ("x86_64", 41, (1,), ALLOW),  # socket: unix
        ("x86_64", 41, (2,), ALLOW),  # inet
        ("x86_64", 41, (40,), REFUSE),  # vsock
        ("x86_64", 41, (38,), REFUSE),  # alg
        ("x86_64", 16, (0, 0x5401), ALLOW),  # ioctl TCGETS
        ("x86_64", 16, (0, 0x5412), REFUSE),  # TIOCSTI
        ("aarch64", 63, (), ALLOW),  # read
        ("aarch64", 221, (), ALLOW),  # execve
        ("aarch64", 219, (), REFUSE),  # keyctl
        ("aarch64", 280, (), REFUSE),  # bpf
        ("aarch64", 40, (), REFUSE),  # mount
        ("aarch64", 198, (10,), ALLOW),  # socket: inet6
        ("aarch64", 198, (17,), REFUSE),  # packet
        ("aarch64", 29, (0, 0x541C), REFUSE),  # ioctl TIOCLINUX
        ("aarch64", 29, (0, 0x5413), ALLOW),  # TIOCGWINSZ
    ],
)
def test_a_call_is_answered(
    arch: str, number: int, arguments: tuple[int, ...], expected: int
) -> None:
    program = refusing_filter(arch, memory_watched=False)
    assert verdict(program, ARCHES[arch], number, *arguments) == expected


@pytest.mark.parametrize(
    ("arch", "number"),
    [
        *(("x86_64", number) for number in (319, 447, 68, 29)),
        *(("aarch64", number) for number in (279, 447, 186, 194)),
    ],
)
def test_memory_of_no_process_is_refused_where_memory_is_watched(arch: str, number: int) -> None:
    for watched, expected in ((True, REFUSE), (False, ALLOW)):
        program = refusing_filter(arch, memory_watched=watched)
        assert verdict(program, ARCHES[arch], number) == expected


@pytest.mark.parametrize("arch", ARCHES)
def test_a_call_of_another_architecture_ends_the_process(arch: str) -> None:
    assert verdict(refusing_filter(arch, memory_watched=True), 0x40000003, 3) == KILL  # 32-bit x86


def test_every_path_through_the_filter_ends_in_an_answer() -> None:
    for arch, word in ARCHES.items():
        program = refusing_filter(arch, memory_watched=True)
        for number in range(600):
            assert verdict(program, word, number, 1, 1) in (ALLOW, REFUSE)


def test_another_kind_of_processor_is_refused_in_words() -> None:
    with pytest.raises(Unsupported, match="riscv64"):
        refusing_filter("riscv64", memory_watched=True)
