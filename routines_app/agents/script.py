"""The script runtime: the instructions are a shell script, and no model is called.

The script is written to `.routine/run.sh` in the routine's folder and run there by bash: a file,
because a command line has a length limit and because bash then names it, with the line, in its
errors. Its last line says how it went: `report: …` or `nothing changed`.
"""

from foundation import clock
from foundation.failpoints import failpoint
from routines_app.agents.interrupted import keep_what_was_printed
from routines_app.agents.live_output import LiveOutput
from routines_app.agents.turn import (
    CommandResult,
    Computer,
    ComputerFailed,
    ComputerRefused,
    NewStep,
    StepKind,
    StepSink,
    TurnInterrupted,
    TurnOutcome,
    TurnRequest,
    Usage,
)
from routines_app.agents.wording import (
    BODY,
    HEADLINE,
    last_line,
    middle_cut,
    one_line,
    says_nothing_changed,
)

SCRIPT_PATH = ".routine/run.sh"
COMMAND = f"bash {SCRIPT_PATH}"
DOING = "running its script"
REPORT = "report:"


class ScriptRuntime:
    """Takes a turn by running the instructions with bash. It costs nothing."""

    def take_turn(self, request: TurnRequest, computer: Computer, steps: StepSink) -> TurnOutcome:
        """Run the script to its end and read its last line.

        Raises only TurnInterrupted, from `steps`.
        """
        ends_at = clock.monotonic() + request.seconds
        steps.check()
        try:
            computer.write_file(f"{request.folder}/{SCRIPT_PATH}", _as_file(request.instructions))
            steps.begin(StepKind.RAN, COMMAND)
            live = LiveOutput.of(steps)
            result = computer.run(
                ["bash", SCRIPT_PATH],
                cwd=request.folder,
                timeout=max(ends_at - clock.monotonic(), 0.1),
                check=live.check,
                heard=live.heard,
            )
        except TurnInterrupted as interruption:
            keep_what_was_printed(steps.record, interruption, StepKind.RAN, COMMAND)
            raise
        except ComputerFailed as error:
            keep_what_was_printed(steps.record, error, StepKind.RAN, COMMAND)
            printed = error.partial.output if error.partial else ""
            facts = {"variant": error.variant, "reason": str(error)}
            return _ended("fail_machine", printed, doing=DOING, **facts)
        except ComputerRefused as error:
            return _ended("fail_machine", doing=DOING, variant="refused", reason=str(error))
        failpoint("tool.before")
        steps.record(_ran(result))
        failpoint("tool.after")
        outcome = _outcome(result)
        if outcome.code.startswith("done_"):
            title = outcome.headline or ("Nothing changed" if not outcome.changed else "Done")
            steps.record(NewStep(StepKind.FINISHED, title, facts={"changed": outcome.changed}))
        return outcome


def _as_file(instructions: str) -> bytes:
    # Browsers send CRLF from a text box; bash would take each CR as part of a word.
    text = instructions.replace("\r\n", "\n").replace("\r", "\n")
    return (text if text.endswith("\n") else text + "\n").encode()


def _ran(result: CommandResult) -> NewStep:
    return NewStep(
        kind=StepKind.RAN,
        title=COMMAND,
        content=middle_cut(result.output),
        seconds=result.seconds,
        facts={
            "exit_code": result.exit_code,
            "reason": result.reason,
            "lines": len(result.output.splitlines()),
        },
    )


def _outcome(result: CommandResult) -> TurnOutcome:
    match result.reason:
        case "timeout":
            return _ended("stop_time", result.output, doing=DOING, variant="seconds")
        case "oom":
            return _ended("fail_machine", result.output, doing=DOING, variant="memory")
        case "disk":
            return _ended("fail_machine", result.output, doing=DOING, variant="disk")
        case "output":
            return _failed(result, "It printed more than a run may keep.")
        case "cancelled":
            return _failed(result, "It was cancelled.")
        case "exit" if result.exit_code != 0:
            return _failed(result, last_line(result.stderr) or last_line(result.output))
        case "exit":
            return _finished(result.output)


def _failed(result: CommandResult, line: str) -> TurnOutcome:
    return _ended(
        "fail_script",
        result.output,
        exit_code=result.exit_code,
        last_line=one_line(line),
        reason=result.reason,
    )


def _finished(output: str) -> TurnOutcome:
    line = last_line(output)
    said = line.casefold().startswith(REPORT)
    unchanged = says_nothing_changed(line[len(REPORT) :] if said else line)
    before = output[: output.rindex(line)] if said or unchanged else output
    return TurnOutcome(
        code="done_unchanged" if unchanged else "done_changed",
        changed=not unchanged,
        headline=one_line(line[len(REPORT) :], HEADLINE) if said and not unchanged else "",
        body=middle_cut(before.strip(), BODY),
        spent=0,
        usage=Usage(),
    )


def _ended(code: str, output: str = "", **facts: object) -> TurnOutcome:
    return TurnOutcome(
        code=code,
        changed=False,
        headline="",
        body=middle_cut(output.strip(), BODY),
        spent=0,
        usage=Usage(),
        facts=facts,
    )
