"""What a new workspace can begin with: three routines with one blank each, as data.

Each is offered only where it works: one needs no model at all.
"""

import shlex
from dataclasses import dataclass

from accounts.models import Workspace
from routines_app.configure.models import usable_models
from routines_app.models import Agent, AgentRuntime

FOLDER_SCRIPT = r"""#!/usr/bin/env bash
# Says what changed in a folder since the last run. Costs nothing: no model is called.
set -euo pipefail
shopt -s inherit_errexit

asked=@BLANK@
folder=$asked
case $folder in
  '~') folder=$HOME ;;
  '~/'*) folder=$HOME/${folder#'~/'} ;;
  /*) ;;
  *) folder=$HOME/$folder ;;
esac
memory=$PWD # the routine's own folder, with state.md; the listings live in .routine
mkdir -p -- "$memory/.routine"
last=$memory/.routine/last-listing
now=$memory/.routine/this-listing
which=$memory/.routine/folder
if [ "$(cat -- "$which" 2> /dev/null)" != "$asked" ]; then rm -f -- "$last"; fi
printf '%s\n' "$asked" > "$which"

if [ ! -e "$folder" ]; then
  mkdir -p -- "$folder"
  echo "There was no folder $asked, so an empty one was made."
  echo
fi
if [ ! -d "$folder" ]; then
  echo "$asked is not a folder. Name one, under Instructions." >&2
  exit 2
fi

# One line a file: its path, a tab, its hash. Routines' own folders are left out.
(
  cd -- "$folder"
  find . -path "$HOME/routines" -prune -o -path './routines' -prune -o -type f -print0 \
    | sort -z \
    | while IFS= read -r -d '' file; do
        name=${file#./}
        name=${name//$'\t'/ }
        name=${name//$'\n'/ }
        if hash=$(sha256sum < "$file"); then
          printf '%s\t%s\n' "$name" "${hash%% *}"
        fi
      done
) > "$now"
count=$(wc -l < "$now")

# What this script notes stands beneath the mark in state.md; what is above it stays.
note() {
  local mark='<!-- what this script notes -->' kept=
  if [ -e "$memory/state.md" ]; then
    kept=$(awk -v mark="$mark" '$0 == mark { exit } { print }' "$memory/state.md")
  fi
  { if [ -n "$kept" ]; then printf '%s\n\n' "$kept"; fi; echo "$mark"; cat; } \
    > "$memory/.routine/this-state"
  mv -- "$memory/.routine/this-state" "$memory/state.md"
}

files() { if [ "$1" -eq 1 ]; then echo "1 file"; else echo "$1 files"; fi; }

if [ ! -e "$last" ]; then
  mv -- "$now" "$last"
  { echo "folder: $asked"; echo "files: $count"; } | note
  cut -f1 "$last" | head -n 50 | sed 's/.*/- `&`/'
  if [ "$count" -gt 50 ]; then echo "- and $((count - 50)) more"; fi
  echo
  echo "report: First look: $(files "$count") in $asked"
  exit 0
fi

changes=$(awk -F '\t' '
  FILENAME == ARGV[1] { before[$1] = $2; next }
  { seen[$1] = 1
    if (!($1 in before)) print "new\t" $1
    else if (before[$1] != $2) print "changed\t" $1 }
  END { for (name in before) if (!(name in seen)) print "gone\t" name }
' "$last" "$now" | sort)
mv -- "$now" "$last"

if [ -z "$changes" ]; then
  echo "nothing changed"
  exit 0
fi

total=$(printf '%s\n' "$changes" | wc -l)
{
  echo "folder: $asked"
  echo "files: $count"
  echo "last change:"
  printf '%s\n' "$changes" | head -n 20 | sed 's/^/  /; s/\t/: /'
} | note
printf '%s\n' "$changes" | head -n 100 | sed 's/^\([a-z]*\)\t\(.*\)/- \1 `\2`/'
names=$(printf '%s\n' "$changes" | head -n 3 | cut -f2 | paste -sd, | sed 's/,/, /g')
if [ "$total" -gt 3 ]; then names="$names and $((total - 3)) more"; fi
echo
echo "report: $(files "$total") changed: $names"
"""

COMMITS_TEXT = """\
Read the new commits of this repository: those that the upstream branch has and this one hasn't \
(git log --stat @..@{u}).

Summarise them in plain words for somebody who wasn't there. Name each commit by its short hash \
and its subject, say what it changes and why, and put first what somebody has to act on.

Then run git merge --ff-only @{u}, so that the next run starts here, and note in state.md the \
last commit that you read.

If there is nothing new, say exactly "nothing changed".\
"""

BRIEF_TEXT = """\
Read the file @BLANK@ and write a brief of it on one screen: what it says, what is new in it since \
the last run (state.md has what you noted then), and what somebody has to decide or do.

Before you finish, note in state.md what the brief was based on: the file's length and its main \
points, each in a line.

If nothing in the file has changed since the last run, say exactly "nothing changed".\
"""


@dataclass(frozen=True)
class Starter:
    """A routine to begin with. `@BLANK@` in its texts stands for the one thing a person gives.

    `what` is the words for it where it can't be given yet. `folder` and `check` are as the form
    has them; an empty folder is the routine's own.
    """

    code: str
    sentence: str
    what: str
    about: str
    name: str
    instructions: str
    blank_label: str
    blank: str
    needs_model: bool
    folder: str = ""
    check: str = ""
    cap: int = 500_000  # micro-dollars

    @property
    def title(self) -> str:
        """Its sentence without a blank."""
        return self.sentence.replace("@BLANK@", self.what)

    @property
    def before(self) -> str:
        """Its sentence up to the blank."""
        return self.sentence.partition("@BLANK@")[0]

    @property
    def after(self) -> str:
        """Its sentence from the blank on."""
        return self.sentence.partition("@BLANK@")[2]

    def text(self, blank: str) -> str:
        """Its instructions with the blank filled; a script gets it quoted for the shell."""
        return self.instructions.replace(
            "@BLANK@", blank if self.needs_model else shlex.quote(blank)
        )

    def working_folder(self, blank: str) -> str:
        """Where it works, with the blank filled."""
        return self.folder.replace("@BLANK@", blank)


@dataclass(frozen=True)
class Offer:
    """A starter as the first page shows it; `why_not` says why it can't be used yet."""

    starter: Starter
    blank: str
    why_not: str = ""
    error: str = ""


STARTERS = (
    Starter(
        code="folder",
        sentence="Tell me what changed in @BLANK@ since last time",
        what="a folder",
        about="A script compares it with the last look and says so in one line. $0.00 a run.",
        name="What changed in a folder",
        instructions=FOLDER_SCRIPT,
        blank_label="Folder",
        blank="~/inbox",
        needs_model=False,
    ),
    Starter(
        code="commits",
        sentence="Summarise the new commits of @BLANK@",
        what="a repository",
        about="Upload it under Files as repo.bundle (git bundle create repo.bundle HEAD main), and"
        " again when it has grown. Asks a model only when there is something new. About $0.05 a"
        " run.",
        name="New commits",
        instructions=COMMITS_TEXT,
        blank_label="Repository’s folder",
        blank="~/repo",
        needs_model=True,
        folder="@BLANK@",
        # On its first run the folder is made from the bundle of its name.
        check='test -d .git || git clone -q "$PWD.bundle" . && '
        "git fetch -q && git log --oneline @..@{u} | grep .",
    ),
    Starter(
        code="brief",
        sentence="Brief me on @BLANK@",
        what="a file",
        about="Reads it, compares it with last time, and says what matters on one screen."
        " About $0.03 a run.",
        name="A brief on a file",
        instructions=BRIEF_TEXT,
        blank_label="File",
        blank="~/notes.md",
        needs_model=True,
    ),
)


def starter_of(code: str) -> Starter | None:
    """The starter of this code; None when there is none."""
    return next((starter for starter in STARTERS if starter.code == code), None)


def offered_starters(workspace: Workspace) -> list[Offer]:
    """Every starter with its default blank, and why one can't be used here yet."""
    able = bool(usable_models(workspace))
    return [
        Offer(starter, starter.blank, "" if able or not starter.needs_model else "Needs a model.")
        for starter in STARTERS
    ]


def agent_for(starter: Starter, workspace: Workspace) -> Agent | None:
    """Who does it: the workspace's script, or its first agent with a model."""
    runtime = AgentRuntime.MODEL if starter.needs_model else AgentRuntime.SCRIPT
    return (
        Agent.objects.filter(workspace=workspace, runtime=runtime, deleted_at__isnull=True)
        .order_by("id")
        .first()
    )
