"""The files on a machine: looking, editing, fetching, adding, deleting."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import F
from django.http import Http404, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from accounts.models import Role, User
from foundation import clock
from machines.lifecycle import MachineState
from machines.models import Machine
from machines.providers.base import MachineError, NotFound, PathEscape, Unsupported
from routines_app.admission.restoring import time_to_restore
from routines_app.configure.file_changes import (
    ChangedMeanwhile,
    NamesTaken,
    live_writer,
    make_file,
    make_folder,
    name_problem,
    remove,
    save_text,
)
from routines_app.configure.file_tree import tree_of
from routines_app.configure.files import Folder, TextFile, look, open_file
from routines_app.runner.memory import STATE_BYTES
from routines_app.web.access import WorkspaceRequest, in_workspace, role_too_low
from routines_app.web.cold import about, coming
from routines_app.web.download import as_download
from routines_app.web.file_owner import others_here
from routines_app.web.file_past import KeptEdition, past_of
from routines_app.web.file_upload import upload
from routines_app.web.machines import disk_of, machines_of
from routines_app.web.state_history import Edition, history_of, next_reader, writer_of

NOWHERE = (NotFound, PathEscape, Unsupported)


@in_workspace(Role.VIEWER)
@require_GET
def files(request: WorkspaceRequest, workspace_slug: str) -> HttpResponse:
    """To the files of the machine that is asked for, else of the one that was used last."""
    lately = F("used_at").desc(nulls_last=True)
    theirs = machines_of(request.workspace).order_by(lately, "created_at")
    asked = theirs.filter(slug=request.GET.get("machine", "").replace("\0", "")).first()
    machine = asked or theirs.first()
    if machine is None:
        return redirect("machines", workspace_slug)
    return redirect("file_root", workspace_slug, machine.slug)


@in_workspace(Role.VIEWER)
@require_http_methods(["GET", "POST"])
def file(
    request: WorkspaceRequest, workspace_slug: str, machine_slug: str, path: str = ""
) -> HttpResponseBase:
    """A folder's names or a file's text; a post changes something there (`do` says what)."""
    machine = get_object_or_404(machines_of(request.workspace), slug=machine_slug)
    # Whose a file is goes by its path's parts, so one place is written in one way alone.
    if "\0" in path or (path and {"", ".", ".."} & set(path.rstrip("/").split("/"))):
        raise Http404("no file's path is written so")
    if MachineState(machine.state).cold:
        return _cold(request, machine)
    page = FilePage(request, machine, path.rstrip("/"))
    if request.method == "POST":
        if not request.membership.may(Role.MEMBER):
            return role_too_low(request, Role.MEMBER)
        deletes = request.POST.get("do") == "delete"
        others = others_here(request.membership, machine, page.path, deletes=deletes)
        if others is not None:
            said = (
                f"It belongs to {others.name}, which is {others.owner}’s. An admin may change it."
            )
            return page.show(problem=said, status=403, typed=request.POST.get("content"))
        return page.change(request.POST)
    try:
        if "download" in request.GET:
            return as_download(request, open_file(machine, page.path), page.name)
        if "delete" in request.GET and page.path:
            return page.show("pages/file_delete.html")
        if "edition" in request.GET:
            return page.show_edition(request.GET["edition"])
        return page.show()
    except NOWHERE as error:
        raise Http404(error.sentence) from error


def _cold(request: WorkspaceRequest, machine: Machine) -> HttpResponse:
    """Its files can't be read until it is back; nothing was changed by a post."""
    context = {
        "machine": machine,
        "machines": machines_of(request.workspace),
        "cold": True,
        "state": machine.state,
        "restore": coming(machine, clock.now()),
        "stored_size": int(machine.archive.get("size", 0)),
        "restores_in": about(time_to_restore(machine)),
        "may_run": request.membership.may(Role.MEMBER),
    }
    status = 200 if request.method == "GET" else 409
    return render(request, "pages/files_cold.html", context, status=status)


def _comparable(found: object) -> str | None:
    """The text, if a run would have kept all of it; else None."""
    return found.text if isinstance(found, TextFile) and found.size <= STATE_BYTES else None


@dataclass(frozen=True)
class FilePage:
    """One place on a machine, as a page. `path` is beneath home, without `~/`."""

    request: WorkspaceRequest
    machine: Machine
    path: str

    @property
    def name(self) -> str:
        return posixpath.basename(self.path)

    def show(
        self, template: str = "", *, problem: str = "", status: int = 200, **typed: Any
    ) -> HttpResponse:
        """The page as it is now, with a sentence about what went wrong, if anything did."""
        trouble, found, tree = "", None, None
        try:
            found = look(self.machine, self.path)
            tree = tree_of(self.machine, self.path)
        except NotFound:
            if not problem:
                raise
            # deleted while it was being edited: what was typed isn't lost with it
            found = TextFile(self.path, "", version="", size=0)
        except NOWHERE:
            raise
        except MachineError as error:
            trouble, status = error.sentence, 503
        writer = live_writer(self.machine)
        others = others_here(self.request.membership, self.machine, self.path)
        memory = history_of(self.machine, self.path, None if writer else _comparable(found))
        disk, allowed, _ = disk_of(self.machine)
        context = {
            "machine": self.machine,
            "machines": machines_of(self.request.workspace),
            "path": self.path,
            "name": self.name,
            "crumbs": self._crumbs(),
            "parent": posixpath.dirname(self.path),
            "found": found,
            "kind": type(found).__name__,
            "folder": self.path if isinstance(found, Folder) else posixpath.dirname(self.path),
            "adds": "add" in self.request.GET,
            "tree": tree,
            "disk": disk,
            "disk_allowed": allowed,
            "history": past_of(self.machine, self.path) if memory is None else memory,
            "is_memory": memory is not None,
            "written_by": writer_of(memory, found.text) if isinstance(found, TextFile) else None,
            "next_reader": None if memory is None else next_reader(self.machine, self.path),
            "writer": writer,
            "may_write": self.request.membership.may(Role.MEMBER) and others is None,
            "others": others,
            "problem": problem,
            "trouble": trouble,
            "typed": None,
            **typed,
        }
        return render(self.request, template or "pages/file.html", context, status=status)

    def show_edition(self, name: str) -> HttpResponse:
        """What one run changed in a file, or somebody by hand in a state.md."""
        for edition in self._editions():
            if edition.name == name:
                return self.show("pages/file_edition.html", edition=edition, lines=edition.lines)
        raise Http404("no such edition of this file")

    def _editions(self) -> Sequence[Edition | KeptEdition]:
        """What runs did to this file, and people to a state.md."""
        text = None
        if live_writer(self.machine) is None:
            try:
                text = _comparable(look(self.machine, self.path))
            except MachineError:
                text = None  # what the runs did is known without the machine
        memory = history_of(self.machine, self.path, text)
        return memory if memory is not None else past_of(self.machine, self.path) or []

    def _crumbs(self) -> list[tuple[str, str]]:
        """Each folder on the way as its name and its path."""
        parts = self.path.split("/") if self.path else []
        return [(part, "/".join(parts[: at + 1])) for at, part in enumerate(parts)]

    def change(self, form: QueryDict) -> HttpResponse:
        """Do what the form asks, and say what came of it."""
        acts: dict[str, Callable[[QueryDict], HttpResponse]] = {
            "save": self._save,
            "put_back": self._put_back,
            "upload": self._upload,
            "new_folder": self._new_folder,
            "new_file": self._new_file,
            "delete": self._delete,
        }
        act = acts.get(form.get("do", ""))
        if act is None:
            return self.show(problem="That form is from an older page. Load it again.", status=422)
        try:
            return act(form)
        except NOWHERE as error:
            raise Http404(error.sentence) from error
        except MachineError as error:
            status = 409 if error.may_retry else 422
            return self.show(problem=error.sentence, status=status, typed=form.get("content"))

    def _back(self, path: str) -> HttpResponse:
        slugs = (self.request.workspace.slug, self.machine.slug)
        return redirect("file", *slugs, path) if path else redirect("file_root", *slugs)

    def _save(self, form: QueryDict) -> HttpResponse:
        typed = form.get("content", "")
        saved = save_text(
            self.machine, self.request.user, self.path, typed, form.get("version", "")
        )
        if isinstance(saved, ChangedMeanwhile):
            return self.show(
                "pages/file_conflict.html",
                problem="It changed since you opened it.",
                status=409,
                typed=typed,
                meanwhile=saved,
            )
        messages.success(self.request, f"{self.name} is saved.")
        return self._back(self.path)

    def _put_back(self, form: QueryDict) -> HttpResponse:
        """Save the text from before an edition, if the file is still as the page showed it."""
        for edition in self._editions():
            if edition.name == form.get("edition") and isinstance(edition, Edition):
                form = form.copy()
                form["content"] = edition.before
                return self._save(form)
        raise Http404("no such edition of this file")

    def _upload(self, form: QueryDict) -> HttpResponse:
        sent = upload(self.request, self.machine, self.path)
        if sent.problem:
            return self.show(problem=sent.problem, status=sent.status)
        messages.success(self.request, sent.said)
        return self._back(self.path)

    def _new_folder(self, form: QueryDict) -> HttpResponse:
        return self._made(form.get("name", ""), make_folder)

    def _new_file(self, form: QueryDict) -> HttpResponse:
        return self._made(form.get("name", ""), make_file)

    def _made(
        self, name: str, make: Callable[[Machine, User, str, str], NamesTaken | None]
    ) -> HttpResponse:
        name = name.strip()
        problem = name_problem(name)
        if not problem and make(self.machine, self.request.user, self.path, name) is not None:
            problem = f"{name} is there already. Choose another name."
        if problem:
            return self.show(problem=problem, status=422)
        return self._back(posixpath.join(self.path, name))

    def _delete(self, form: QueryDict) -> HttpResponse:
        remove(self.machine, self.request.user, self.path)
        messages.success(self.request, f"{self.name} is deleted.")
        return self._back(posixpath.dirname(self.path))
