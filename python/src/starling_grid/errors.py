"""The errors of this package. All of them are a `GridError`."""

from __future__ import annotations

from typing import Optional, Sequence


class GridError(Exception):
    """The base of all errors of this package.

    Messages can have text from other people's computers. They are shown without characters that
    would control a terminal.
    """

    def __str__(self) -> str:
        return "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in super().__str__())


class Unreachable(GridError):
    """The project did not answer, although the request was repeated."""


class Refused(GridError):
    """The project refused a request.

    The message has the project's reason and its advice. `status` is the HTTP status, and `job` is
    the index of the job that is wrong, if the project named one.
    """

    def __init__(self, status: int, reason: str, advice: str = "", job: Optional[int] = None) -> None:
        super().__init__(f"{reason}: {advice}" if advice else reason)
        self.status = status
        self.reason = reason
        self.advice = advice
        self.job = job


class JobError(GridError):
    """A job failed, and the project has given it up.

    `reasons` are the project's. `exit_status` and `stderr` are those of the last attempt. They are
    None and empty if no computer has reported one.
    """

    def __init__(
        self, job: str, reasons: Sequence[str], exit_status: Optional[int] = None, stderr: str = ""
    ) -> None:
        text = self._headline(job, ", ".join(reasons) or "no reason was given")
        if exit_status is not None:
            text += f" (exit status {exit_status})"
        if stderr.strip():
            text += f"\n{stderr.strip()}"
        super().__init__(text)
        self.job = job
        self.reasons = list(reasons)
        self.exit_status = exit_status
        self.stderr = stderr

    def _headline(self, job: str, reasons: str) -> str:
        return f"job {job} failed: {reasons}"


class JobCanceled(JobError):
    """A job was canceled before it had a result."""

    def _headline(self, job: str, reasons: str) -> str:
        return f"job {job} was canceled"


class FunctionError(GridError):
    """A Python function raised an exception on the computer that ran it.

    The message ends with the traceback from there. Exceptions that are part of Python are raised
    as they are, with this one as their `__cause__`.
    """
