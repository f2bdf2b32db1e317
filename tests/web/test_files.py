"""The files on a machine through a browser."""

import hashlib
import io
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from asgiref.sync import async_to_sync
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import AsyncRequestFactory, Client
from pytest_django.fixtures import Settings

from accounts.models import Role, Workspace
from foundation import clock
from machines.access import provider_for
from machines.models import Machine
from machines.providers.base import FileEntry, Provider, QuotaExceeded, Ref
from routines_app.configure.file_tree import MOST_IN_TREE
from routines_app.models import HandChange
from routines_app.rules.status import RunStatus
from routines_app.web.download import PIECE, as_download
from tests.factories import (
    make_machine,
    make_member,
    make_routine,
    make_run,
    make_workspace,
    owner_of,
)

Disk = tuple[Provider, Ref]


@pytest.fixture
def workspace(client: Client, db: None) -> Workspace:
    workspace = make_workspace(slug="ada")
    client.force_login(workspace.memberships.get().user)
    return workspace


@pytest.fixture
def machine(workspace: Workspace) -> Machine:
    return make_machine(workspace)


@pytest.fixture
def disk(machine: Machine) -> Disk:
    return provider_for(machine)


@pytest.fixture
def at(machine: Machine) -> Callable[[str], str]:
    """The address of a path on the machine."""
    return lambda path: f"/w/ada/files/harbour-1/{path}"


def version(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_files_lead_to_the_machine_that_was_used_last(
    client: Client, workspace: Workspace, machine: Machine
) -> None:
    assert client.get("/w/ada/files/")["Location"] == "/w/ada/files/harbour-1/"


def test_a_routines_memory_can_be_written_before_its_first_run(
    client: Client, workspace: Workspace, at: Callable[[str], str], disk: Disk
) -> None:
    make_routine(workspace, name="Morning brief", slug="morning-brief")
    assert "routines/" in client.get(at("")).content.decode()
    page = client.get(at("routines/morning-brief/state.md")).content.decode()
    assert "This file is the routine&#x27;s memory." in page
    assert "The next run reads this first" in page
    assert "No run has read it yet." in page


def test_a_disk_stays_readable_when_a_routines_folder_cant_be_made(
    client: Client, workspace: Workspace, at: Callable[[str], str], disk: Disk
) -> None:
    disk[0].write_file(disk[1], "routines", b"a file where a folder should be")
    make_routine(workspace, slug="morning-brief")
    page = client.get(at(""))
    assert page.status_code == 200
    assert ">routines</a>" in page.content.decode()


def test_a_saved_text_is_on_the_disk_with_its_own_line_ends(
    client: Client, at: Callable[[str], str], disk: Disk
) -> None:
    provider, ref = disk
    for name, old, new in (
        ("unix.md", b"a\nb\n", b"\n\xe2\x80\x9cone\xe2\x80\x9d\ntwo\n"),
        ("dos.md", b"a\r\nb\r\n", b"\r\n\xe2\x80\x9cone\xe2\x80\x9d\r\ntwo\r\n"),
    ):
        provider.write_file(ref, name, old)
        form = {"do": "save", "version": version(old), "content": "\r\n“one”\r\ntwo\r\n"}
        answer = client.post(at(name), form)
        assert answer["Location"] == at(name)
        assert provider.read_file(ref, name) == new


def test_a_text_is_shown_as_it_is_and_never_as_markup(
    client: Client, at: Callable[[str], str], disk: Disk
) -> None:
    disk[0].write_file(disk[1], "x.html", b"\n</textarea><script>alert(1)</script>\n")
    page = client.get(at("x.html")).content.decode()
    assert "\n\n&lt;/textarea&gt;&lt;script&gt;alert(1)&lt;/script&gt;\n</textarea>" in page


def test_a_text_that_changed_meanwhile_is_shown_beside_yours(
    client: Client, at: Callable[[str], str], disk: Disk
) -> None:
    provider, ref = disk
    provider.write_file(ref, "notes.md", b"theirs\n")
    form = {"do": "save", "version": version(b"old\n"), "content": "yours\n"}
    answer = client.post(at("notes.md"), form)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "\nyours\n" in page
    assert "\ntheirs\n" in page
    assert provider.read_file(ref, "notes.md") == b"theirs\n"
    assert version(b"theirs\n") in page
    client.post(at("notes.md"), form | {"version": version(b"theirs\n")})
    assert provider.read_file(ref, "notes.md") == b"yours\n"


def test_a_text_that_was_deleted_meanwhile_can_still_be_saved(
    client: Client, at: Callable[[str], str], disk: Disk
) -> None:
    form = {"do": "save", "version": version(b"old\n"), "content": "yours\n"}
    answer = client.post(at("notes.md"), form)
    assert answer.status_code == 409
    assert "It has been deleted." in answer.content.decode()
    client.post(at("notes.md"), form | {"version": ""})
    assert disk[0].read_file(disk[1], "notes.md") == b"yours\n"


@pytest.mark.parametrize("do", ["save", "upload", "new_file", "new_folder", "delete"])
def test_while_a_run_writes_nothing_is_changed_by_hand(
    client: Client, workspace: Workspace, at: Callable[[str], str], disk: Disk, do: str
) -> None:
    provider, ref = disk
    provider.write_file(ref, "a/notes.md", b"old\n")
    make_run(make_routine(workspace, name="Weekly numbers"), RunStatus.RUNNING)
    path = "a/notes.md" if do in ("save", "delete") else "a"
    form = {
        "do": do,
        "version": version(b"old\n"),
        "content": "typed with care",
        "name": "new-one",
        "files": SimpleUploadedFile("up.txt", b"up"),
    }
    answer = client.post(at(path), form)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "Weekly numbers is writing here. You can read; saving waits until it ends." in page
    assert [entry.path for entry in provider.list_files(ref, "a")] == ["~/a/notes.md"]
    assert provider.read_file(ref, "a/notes.md") == b"old\n"
    if do == "save":
        assert "typed with care" in page
    assert client.get(at("a/notes.md")).status_code == 200


def test_several_files_are_uploaded_at_once(
    client: Client, at: Callable[[str], str], disk: Disk
) -> None:
    big = bytes(range(256)) * 12_000  # over what an upload keeps in memory
    sent = [SimpleUploadedFile("a.bin", big), SimpleUploadedFile("b.txt", b"b")]
    answer = client.post(at("in"), {"do": "upload", "files": sent}, follow=True)
    assert "Two files uploaded." in answer.content.decode()
    assert disk[0].read_file(disk[1], "in/a.bin", len(big)) == big
    assert disk[0].read_file(disk[1], "in/b.txt") == b"b"


def test_an_upload_writes_over_a_file_only_when_asked(
    client: Client, at: Callable[[str], str], disk: Disk
) -> None:
    provider, ref = disk
    provider.write_file(ref, "a.txt", b"old")
    form = {"do": "upload", "files": [SimpleUploadedFile("a.txt", b"new")]}
    answer = client.post(at(""), form)
    assert answer.status_code == 409
    assert "a.txt is there already." in answer.content.decode()
    assert provider.read_file(ref, "a.txt") == b"old"
    form["files"] = [SimpleUploadedFile("a.txt", b"new")]
    client.post(at(""), form | {"replace": "yes"})
    assert provider.read_file(ref, "a.txt") == b"new"


@pytest.mark.parametrize("sizes", [[2_000_000], [400_000, 800_000]])
def test_an_upload_over_the_bound_is_refused_in_a_sentence(
    client: Client, at: Callable[[str], str], disk: Disk, settings: Settings, sizes: list[int]
) -> None:
    settings.UPLOAD_MAX_BYTES = 900_000
    sent = [SimpleUploadedFile(f"{n}.bin", bytes(size)) for n, size in enumerate(sizes)]
    answer = client.post(at(""), {"do": "upload", "files": sent})
    assert answer.status_code == 413
    assert "That is more than 900 kB. Send less at a time." in answer.content.decode()
    assert list(disk[0].list_files(disk[1], "~")) == []


def test_an_upload_of_nothing_says_so(client: Client, at: Callable[[str], str], disk: Disk) -> None:
    answer = client.post(at(""), {"do": "upload"})
    assert answer.status_code == 422
    assert "Choose at least one file to upload." in answer.content.decode()


def test_a_full_disk_says_so_and_keeps_what_was_typed(
    client: Client, at: Callable[[str], str], disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider, ref = disk
    provider.write_file(ref, "notes.md", b"old\n")

    def full(*args: object, **fields: object) -> None:
        raise QuotaExceeded("The machine's disk is full.")

    monkeypatch.setattr(type(provider), "write_file", full)
    form = {"do": "save", "version": version(b"old\n"), "content": "typed with care"}
    answer = client.post(at("notes.md"), form)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "The machine&#x27;s disk is full." in page
    assert "typed with care" in page


def test_a_download_is_a_file_and_never_a_page(
    client: Client, at: Callable[[str], str], disk: Disk
) -> None:
    disk[0].write_file(disk[1], "a/naïve “x”.html", b"<script>alert(1)</script>" * 50_000)
    answer = client.get(at("a/na%C3%AFve%20%E2%80%9Cx%E2%80%9D.html?download"))
    assert b"".join(answer.streaming_content) == b"<script>alert(1)</script>" * 50_000
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["Content-Disposition"].startswith("attachment; filename*=utf-8''na%C3%AFve")
    assert answer["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(("data", "words"), [(b"\0\1", "isn’t text"), (b"\xff\xfe", "isn’t text")])
def test_what_is_no_text_is_for_downloading(
    client: Client, at: Callable[[str], str], disk: Disk, data: bytes, words: str
) -> None:
    disk[0].write_file(disk[1], "x.bin", data)
    page = client.get(at("x.bin")).content.decode()
    assert words in page
    assert "<textarea" not in page


def test_a_long_text_is_for_downloading(
    client: Client, at: Callable[[str], str], disk: Disk
) -> None:
    disk[0].write_file(disk[1], "long.txt", b"x" * 1_000_001)
    assert "too large to edit" in client.get(at("long.txt")).content.decode()


@pytest.mark.parametrize(
    "path",
    [
        "../secret", "a/../../secret", "%2e%2e/secret", "/etc/passwd", "missing.txt",
        "a%00b", "notes.md/deeper", "x" * 5000,
    ],
)  # fmt: skip
def test_a_path_that_leads_nowhere_is_a_404_in_place(
    client: Client, at: Callable[[str], str], disk: Disk, path: str
) -> None:
    disk[0].write_file(disk[1], "notes.md", b"old\n")
    for way in ("", "?download", "?delete"):
        answer = client.get(at(path) + way)
        assert answer.status_code == 404, way
        assert "There is nothing at this address." in answer.content.decode()
    assert client.post(at(path), {"do": "delete"}).status_code == 404
    if path != "missing.txt":
        form = {"do": "save", "version": "", "content": "x"}
        assert client.post(at(path), form).status_code == 404


def test_folders_and_files_are_made_by_name(
    client: Client, at: Callable[[str], str], disk: Disk
) -> None:
    provider, ref = disk
    assert client.post(at(""), {"do": "new_folder", "name": "sheets"})["Location"] == at("sheets")
    made = client.post(at("sheets"), {"do": "new_file", "name": "march & april?.md"})
    assert made["Location"] == at("sheets/march%20&%20april%3F.md")
    assert provider.read_file(ref, "sheets/march & april?.md") == b""
    again = client.post(at(""), {"do": "new_folder", "name": "sheets"})
    assert again.status_code == 422
    assert "sheets is there already." in again.content.decode()


@pytest.mark.parametrize("name", ["", " ", "a/b", "..", ".", "x" * 201, "two\nlines", "\x1b[31m"])
def test_a_name_that_is_no_name_is_refused(
    client: Client, at: Callable[[str], str], disk: Disk, name: str
) -> None:
    for do in ("new_file", "new_folder"):
        assert client.post(at(""), {"do": do, "name": name}).status_code == 422
    assert list(disk[0].list_files(disk[1], "~")) == []


def test_delete_asks_first_and_then_deletes_a_folder_with_all_in_it(
    client: Client, at: Callable[[str], str], disk: Disk
) -> None:
    provider, ref = disk
    provider.write_file(ref, "a/b/c.txt", b"x")
    assert "Delete b/ and all in it?" in client.get(at("a/b?delete")).content.decode()
    assert provider.read_file(ref, "a/b/c.txt") == b"x"
    assert client.post(at("a/b"), {"do": "delete"})["Location"] == at("a")
    assert list(provider.list_files(ref, "a")) == []
    home = client.post(at(""), {"do": "delete"})
    assert home.status_code == 404
    assert [entry.path for entry in provider.list_files(ref, "~")] == ["~/a"]


def test_a_viewer_reads_and_changes_nothing(
    client: Client, workspace: Workspace, at: Callable[[str], str], disk: Disk
) -> None:
    disk[0].write_file(disk[1], "notes.md", b"old\n")
    client.force_login(make_member(workspace, Role.VIEWER))
    page = client.get(at("notes.md")).content.decode()
    assert "old\n" in page
    assert ">Save<" not in page
    for do in ("save", "upload", "new_file", "new_folder", "delete"):
        assert client.post(at("notes.md"), {"do": do, "name": "x"}).status_code == 403
    assert disk[0].read_file(disk[1], "notes.md") == b"old\n"


def test_what_each_run_did_to_its_memory_is_beside_it(
    client: Client, workspace: Workspace, at: Callable[[str], str], disk: Disk
) -> None:
    routine = make_routine(workspace, slug="brief")
    make_run(routine, state_before="a\nb\n", state_after="a\nc\nd\n")
    make_run(routine, state_before="a\n", state_after="a\n")
    page = client.get(at("routines/brief/state.md")).content.decode()
    assert "+2 −1" in page
    assert "no change" in page
    assert ", “c”<" in page
    assert page.index("Run 2") < page.index("Run 1<")


def test_a_run_that_failed_before_it_wrote_says_so_in_the_memory_s_history(
    client: Client, workspace: Workspace, at: Callable[[str], str], disk: Disk
) -> None:
    routine = make_routine(workspace, slug="brief")
    make_run(routine, RunStatus.FAIL_MODEL, state_before="a\n", state_after="a\n")
    assert ", it failed before writing<" in client.get(at("routines/brief/state.md")).text


def test_the_tree_is_open_along_the_way_and_counts_what_is_closed(
    client: Client, at: Callable[[str], str], disk: Disk
) -> None:
    provider, ref = disk
    for name in ("sheets/a.csv", "sheets/b.csv", "work/deep/notes.md", "work/draft.md"):
        provider.write_file(ref, name, b"12 bytes....")
    page = client.get(at("work/deep/notes.md")).text
    tree = page[page.index('Files on harbour-1">') : page.index("<textarea")]
    places = [
        ">~/sheets/</span><small>2</small>",
        f'href="{at("work")}"><span>~/work/</span></a><ul>',
        ">deep/</span></a><ul>",
        f'href="{at("work/deep/notes.md")}" aria-current="page"><span>notes.md</span>',
        ">draft.md</span><small>12 B</small>",
    ]
    assert [place for place in places if place not in tree] == []
    assert "a.csv" not in tree


def test_a_tree_of_many_names_and_many_folders_stays_small(
    client: Client, at: Callable[[str], str], disk: Disk
) -> None:
    provider, ref = disk
    for number in range(MOST_IN_TREE + 5):
        provider.write_file(ref, f"many/{number:03}.md", b"")
    provider.write_file(ref, "/".join("d" * 40) + "/end.md", b"")
    page = client.get(at("many/064.md")).text
    assert ">064.md</span>" in page and ">063.md</span>" not in page
    assert "four more names" in page
    deep = client.get(at("/".join("d" * 40) + "/end.md")).text
    assert deep.count("<ul>") < 20 and ">end.md</span>" in deep


def test_names_without_end_are_not_counted(
    client: Client, at: Callable[[str], str], disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that counted each of a million names would hold up all others."""
    provider, ref = disk
    seen: list[int] = []

    def list_files(ref: Ref, path: str) -> Iterator[FileEntry]:
        if path != "~/endless":
            yield from listed(ref, path)
            return
        for number in range(100_000):
            seen.append(number)
            yield FileEntry(f"{path}/{number}", "file", 0, 0.0)

    provider.write_file(ref, "endless/x", b"")
    provider.write_file(ref, "few/x", b"")
    listed = provider.list_files
    monkeypatch.setattr(provider, "list_files", list_files)
    page = client.get(at("few")).text
    assert "endless/</span></a>" in page and len(seen) <= 1_001


def test_another_machine_is_chosen_by_its_name(
    client: Client, workspace: Workspace, machine: Machine
) -> None:
    other = make_machine(workspace, slug="harbour-2", used_at=None)
    assert client.get("/w/ada/files/?machine=harbour-2")["Location"].endswith(f"/{other.slug}/")
    assert client.get("/w/ada/files/?machine=nothing")["Location"].endswith("/harbour-1/")


def test_a_served_download_is_sent_piece_by_piece() -> None:
    async_to_sync(_download_under_asgi)()


async def _download_under_asgi() -> None:
    request = AsyncRequestFactory().get("/")
    pieces: list[int] = []

    class Watched(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            assert size == PIECE
            return super().read(size)

    stream = Watched(bytes(PIECE * 2 + 1))
    response = as_download(request, stream, "big.bin")
    async for piece in response.streaming_content:
        pieces.append(len(piece))
    assert pieces == [PIECE, PIECE, 1]
    assert stream.closed


def test_an_edition_shows_its_change_and_the_text_before_it_can_be_put_back(
    client: Client, workspace: Workspace, at: Callable[[str], str], disk: Disk
) -> None:
    routine = make_routine(workspace, slug="brief")
    ago = clock.now() - timedelta(hours=1)
    make_run(routine, at=ago, state_before="", state_after="a\n")
    after = "a\nby hand\nlearnt\n"
    make_run(routine, at=ago, state_before="a\nby hand\n", state_after=after)
    disk[0].write_file(disk[1], "routines/brief/state.md", b"a\nby hand\nlearnt\n")
    where = at("routines/brief/state.md")
    page = client.get(where).content.decode()
    assert page.index("Run 2") < page.index("By hand") < page.index("Run 1<")
    assert ", changed by run 2 " in page and "The next run reads this first, " in page
    page = client.get(f"{where}?edition=2").content.decode()
    assert "<ins>learnt</ins>" in page and "Put back the text before run 2" in page
    assert "<ins>by hand</ins>" in client.get(f"{where}?edition=before-2").content.decode()
    assert client.get(f"{where}?edition=9").status_code == 404
    assert client.get(f"{at('other.md')}?edition=2").status_code == 404
    form = {"do": "put_back", "edition": "2", "version": version(b"older")}
    assert client.post(where, form).status_code == 409
    form["version"] = version(b"a\nby hand\nlearnt\n")
    assert client.post(where, form).status_code == 302
    assert disk[0].read_file(disk[1], "routines/brief/state.md") == b"a\nby hand\n"
    page = client.get(where).content.decode()  # that was by hand, and no run has read it yet
    assert page.index("since run 2") < page.index("Run 2<")
    assert "by Ada Byron, since run 2" in page and "by hand by Ada Byron, since run 2" in page
    page = client.get(f"{where}?edition=since-2").content.decode()
    assert "<del>learnt</del>" in page and "Changed by hand by Ada Byron, since" in page
    form = {"do": "put_back", "edition": "since-2", "version": version(b"a\nby hand\n")}
    assert client.post(where, form).status_code == 302
    assert b"learnt" in disk[0].read_file(disk[1], "routines/brief/state.md")


def test_a_member_writes_everywhere_but_in_the_folder_of_another_s_routine(
    client: Client, workspace: Workspace, at: Callable[[str], str], disk: Disk
) -> None:
    person = make_member(workspace, Role.MEMBER)
    make_routine(workspace, slug="theirs")
    make_routine(workspace, slug="own", owner=person)
    for path in ("routines/theirs/state.md", "routines/own/state.md", "notes.md"):
        disk[0].write_file(disk[1], path, b"old\n")
    client.force_login(person)
    form = {"do": "save", "content": "new\n", "version": version(b"old\n")}
    answer = client.post(at("routines/theirs/state.md"), form)
    assert answer.status_code == 403 and "It belongs to" in answer.content.decode()
    assert "new\n" in answer.content.decode()  # what was typed isn't lost
    assert ">Save<" not in client.get(at("routines/theirs/state.md")).content.decode()
    for path in ("routines/theirs", "routines"):
        assert client.post(at(path), {"do": "delete"}).status_code == 403
    # the same place, written otherwise
    for path in ("routines//theirs", "routines/./theirs", "a/../routines/theirs", "./routines"):
        for sent in (form, {"do": "delete"}):
            assert client.post(at(f"{path}/state.md"), sent).status_code == 404
    assert disk[0].read_file(disk[1], "routines/theirs/state.md") == b"old\n"
    for path in ("routines/own/state.md", "notes.md"):
        assert client.post(at(path), form).status_code == 302
        assert disk[0].read_file(disk[1], path) == b"new\n"


def test_whoever_changed_a_memory_by_hand_is_named(
    client: Client,
    workspace: Workspace,
    machine: Machine,
    at: Callable[[str], str],
    disk: Disk,
) -> None:
    """Each stretch between two runs names its people; what came otherwise has no name."""
    routine = make_routine(workspace, slug="brief")
    now = clock.now()
    ends = [now - timedelta(hours=hours) for hours in (6, 4, 2)]
    texts = [("", "a\n"), ("a\nb\n", "a\nb\n"), ("c\n", "c\n")]
    for end, (before, after) in zip(ends, texts, strict=True):
        make_run(routine, at=end, seconds=10, state_before=before, state_after=after)
    owner = owner_of(workspace)
    other = make_member(workspace, Role.MEMBER, name="A member")
    for person, path, hours in (
        (owner, "routines/brief/state.md", 5), (other, "routines/brief/state.md", 5),
        (owner, "routines/brief/other.md", 3), (other, "routines/brief", 3),
    ):  # fmt: skip
        HandChange.objects.create(
            machine=machine, path=path, person=person, at=now - timedelta(hours=hours)
        )
    disk[0].write_file(disk[1], "routines/brief/state.md", b"c\nby a program\n")
    page = client.get(at("routines/brief/state.md")).content.decode()
    assert "by Ada Byron and one other, before run 2" in page
    assert "<small>by A member, before run 3" in page  # it deleted the folder
    assert "<small>since run 3" in page  # nobody did that on a page


def test_each_change_by_hand_is_kept_with_its_person(
    client: Client, workspace: Workspace, machine: Machine, at: Callable[[str], str]
) -> None:
    client.post(at(""), {"do": "new_file", "name": "notes.md"})
    client.post(at("notes.md"), {"do": "save", "content": "x\n", "version": version(b"")})
    client.post(at("notes.md"), {"do": "save", "content": "y\n", "version": "another"})  # refused
    client.post(at("notes.md"), {"do": "delete"})
    kept = HandChange.objects.order_by("pk").values_list("path", "person", "machine")
    assert list(kept) == [("notes.md", owner_of(workspace).pk, machine.pk)] * 3
