"""Taking files from a browser onto a machine."""

from dataclasses import dataclass

from django.conf import settings

from machines.models import Machine
from machines.providers.base import readable_size
from routines_app.configure.file_changes import name_problem, put_files
from routines_app.web.access import WorkspaceRequest
from routines_app.web.templatetags.words import counted
from routines_app.web.uploads import upload_too_large


@dataclass(frozen=True)
class Sent:
    """How it went: `said` when all is there, else `problem` with its status, and nothing is."""

    said: str = ""
    problem: str = ""
    status: int = 200


def upload(request: WorkspaceRequest, machine: Machine, folder: str) -> Sent:
    """Put the request's `files` into the folder. Raises MachineError."""
    if upload_too_large(request):
        most = readable_size(settings.UPLOAD_MAX_BYTES)
        return Sent(problem=f"That is more than {most}. Send less at a time.", status=413)
    sent = request.FILES.getlist("files")
    named = [(one.name or "", one) for one in sent]
    if not named:
        return Sent(problem="Choose at least one file to upload.", status=422)
    for name, _ in named:
        if name_problem(name):
            return Sent(problem=f"{name}: {name_problem(name)}", status=422)
    if len({name for name, _ in named}) < len(named):
        return Sent(problem="Two of these files have the same name.", status=422)
    replace = request.POST.get("replace") == "yes"
    taken = put_files(
        machine, request.user, folder, [(name, one.chunks()) for name, one in named], replace
    )
    if taken is not None:
        names = ", ".join(taken.names)
        verb = "is" if len(taken.names) == 1 else "are"
        return Sent(
            problem=f"{names} {verb} there already. Tick “Write over” to replace it, and choose "
            "the files once more.",
            status=409,
        )
    return Sent(said=f"{counted(len(named), 'file').capitalize()} uploaded.")
