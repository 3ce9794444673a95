"""A batch of jobs that a project computes."""

from __future__ import annotations

import concurrent.futures
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union, cast, overload

from . import archive
from .errors import GridError, JobCanceled, JobError
from .progress import Progress, progress_of, show
from .results import Result
from .transport import FOREVER, Transport

# Seconds for which the project waits for a change before it answers.
_WAIT = 30

# Seconds between two lists of a batch's jobs, at least: a constant part, and one for each job.
_PAUSE = 0.2
_PAUSE_PER_JOB = 0.001


@dataclass(frozen=True)
class Estimate:
    """A prediction of the time when a batch is done.

    `text` is a sentence. `seconds` is the time until then, or None if it is unknown. `computers` is
    the number of active computers that can compute the batch.
    """

    text: str
    seconds: Optional[float]
    computers: int


def estimate_of(answer: Mapping[str, Any]) -> Estimate:
    """Returns the estimate in an answer of the API."""
    return Estimate(answer["text"], answer.get("seconds"), answer["computers"])


class JobFuture(Future[Result]):
    """The result of one job, once it has one. `job` is the job's name."""

    def __init__(self, job: str) -> None:
        super().__init__()
        self.job = job


class Batch:
    """A batch of jobs that was sent to a project.

    It exists at the project, independently of this object and this process: `Grid.batch` returns it
    again. The jobs are followed by a thread, which starts when it is first needed. A batch is safe
    for concurrent use.
    """

    def __init__(self, transport: Transport, answer: Mapping[str, Any], jobs: Optional[Sequence[str]] = None) -> None:
        self.id: int = answer["id"]
        self.name: str = answer["name"]
        self._transport = transport
        self._total: int = answer["workunits"]
        self._path = f"batches/{self.id}"
        self._jobs = jobs
        self._futures: Optional[List[JobFuture]] = None
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<Batch {self.name} of {self._total} jobs at {self._transport.url}>"

    def __len__(self) -> int:
        return self._total

    @property
    def futures(self) -> List[JobFuture]:
        """A future for each job, in the order of the jobs.

        They work with all functions of `concurrent.futures`. The result is a `Result`, the exception
        a `JobError`. A job that was sent cannot be canceled alone.
        """
        with self._lock:
            if self._futures is None:
                names = self._jobs
                if names is None:
                    names = [workunit["name"] for workunit in _Pages(self._transport, self._path).unsettled()]
                    self._check_complete(len(names))
                self._futures = [JobFuture(name) for name in names]
                for future in self._futures:
                    future.set_running_or_notify_cancel()
                _Watcher(self._transport, self._path, self._futures).start()
            return list(self._futures)

    def _check_complete(self, listed: int) -> None:
        """Raises GridError if the project does not list all jobs of the batch."""
        state = self._transport.call("GET", self._path)
        if listed >= state["workunits"]:
            return
        lists = f"the project lists {listed} of the {state['workunits']} jobs of the batch {self.name}"
        if state.get("expired"):
            raise GridError(f"{lists}; it removes those that were done long ago")
        raise GridError(f"{lists}, since sending it was interrupted: call map again with the same name and jobs")

    def __iter__(self) -> Iterator[Result]:
        """Yields the results in the order of the jobs, and waits for each.

        A job that failed raises its `JobError`.
        """
        for future in self.futures:
            yield future.result()

    def as_completed(self, timeout: Optional[float] = None) -> Iterator[JobFuture]:
        """Yields the futures as their jobs finish, or raises TimeoutError."""
        return cast(Iterator[JobFuture], concurrent.futures.as_completed(self.futures, timeout))

    def wait(self, timeout: Optional[float] = None, progress: bool = False) -> Progress:
        """Waits until all jobs are done, or for `timeout` seconds, and returns the progress.

        With `progress`, it shows a bar meanwhile.
        """
        futures = self.futures
        end = time.monotonic() + (FOREVER if timeout is None else timeout)
        if progress:
            try:
                show(futures, self.name, timeout)
            except concurrent.futures.TimeoutError:
                pass
        else:
            concurrent.futures.wait(futures, timeout)
        for future in futures:  # an error that concerns the batch, such as a revoked token
            error = future.exception() if future.done() else None
            if error is not None and not isinstance(error, JobError):
                raise error
        state = self.progress()
        while not state.finished and state.done == state.total and time.monotonic() < end:
            state = progress_of(self._transport.call("GET", f"{self._path}?wait=2"))
        return state

    def progress(self) -> Progress:
        """Returns the progress that the project reports now."""
        return progress_of(self._transport.call("GET", self._path))

    def failures(self) -> Dict[str, JobError]:
        """Returns the errors of the jobs that have failed so far, by the jobs' names."""
        failures = {}
        for workunit in _Pages(self._transport, self._path).unsettled():
            if workunit["state"] == "error":
                failures[workunit["name"]] = _error(workunit)
        return failures

    @overload
    def outputs(self) -> Dict[str, Dict[str, bytes]]: ...

    @overload
    def outputs(self, folder: Union[str, Path]) -> Dict[str, Dict[str, Path]]: ...

    def outputs(
        self, folder: Union[str, Path, None] = None
    ) -> Union[Dict[str, Dict[str, bytes]], Dict[str, Dict[str, Path]]]:
        """Waits for the batch and fetches all output files in one download.

        They are saved as FOLDER/JOB/FILE, and returned as a dictionary of paths by job and file.
        Without a folder, the dictionary has their content. Jobs that failed are not in it, see
        `failures`.
        """
        self.wait()
        if folder is None:
            return archive.read_all(self._transport, self._path)
        return archive.save_all(self._transport, self._path, Path(folder))

    def cancel(self) -> None:
        """Cancels the jobs that are not done. Their futures raise `JobCanceled`."""
        self._transport.call("DELETE", self._path)

    def retire(self) -> None:
        """Deletes the output at the project, once the batch is done."""
        self._transport.call("POST", self._path + "/retire")

    def estimate(self) -> Estimate:
        """Returns a prediction of the time when the batch is done."""
        return estimate_of(self._transport.call("GET", self._path + "/estimate"))


class _Pages:
    """The list of a batch's workunits, which the project gives a thousand at a time.

    A page whose workunits are all settled is not asked for again.
    """

    def __init__(self, transport: Transport, path: str) -> None:
        self._transport = transport
        self._path = path
        self._settled: Dict[int, int] = {}  # where settled pages start, and where the next one does

    def unsettled(self) -> Iterator[Dict[str, Any]]:
        """Yields the workunits of all pages that are not settled."""
        after = 0
        while True:
            following = self._settled.get(after)
            if following is None:
                page = self._transport.call("GET", f"{self._path}/workunits?after={after}", patience=FOREVER)
                following = page.get("next", 0)
                yield from page["workunits"]
                if following and all(map(_is_settled, page["workunits"])):
                    self._settled[after] = following
            if not following:
                return
            after = following


class _Watcher(threading.Thread):
    """Follows a batch until each of its futures is done."""

    def __init__(self, transport: Transport, path: str, futures: Sequence[JobFuture]) -> None:
        super().__init__(name=f"starling_grid {path}", daemon=True)
        self._transport = transport
        self._path = path
        self._pages = _Pages(transport, path)
        self._open = {future.job: future for future in futures}
        self._pause = _PAUSE + _PAUSE_PER_JOB * len(futures)

    def run(self) -> None:
        try:
            self._follow()
        except Exception as e:
            for future in self._open.values():
                future.set_exception(e)

    def _follow(self) -> None:
        seen: Optional[Tuple[int, int]] = None
        while self._open:
            answer = self._look(0)
            if (answer["unfinished"], answer["fetchable"]) == seen and not answer["done"]:
                answer = self._look(_WAIT)
            seen = answer["unfinished"], answer["fetchable"]
            for workunit in self._pages.unsettled():
                if _is_settled(workunit) or answer["done"]:
                    self._settle(workunit)
            if answer["done"]:
                self._give_up()
            elif self._open:
                time.sleep(self._pause)

    def _look(self, wait: int) -> Mapping[str, Any]:
        """Returns the state of the batch, at once or when it has changed."""
        answer: Mapping[str, Any] = self._transport.call("GET", f"{self._path}?wait={wait}", patience=FOREVER)
        return answer

    def _give_up(self) -> None:
        """Fails the jobs that a finished batch does not have."""
        why = "the project no longer lists it, because the batch was canceled early or was done long ago"
        for job in list(self._open):
            self._open.pop(job).set_exception(JobError(job, [why]))

    def _settle(self, workunit: Mapping[str, Any]) -> None:
        future = self._open.pop(workunit["name"], None)
        if future is None:
            return
        if workunit["state"] == "error":
            future.set_exception(_error(workunit))
            return
        files = {file["name"]: file["size"] for file in workunit.get("files", [])}
        future.set_result(Result(self._transport, self._path, workunit["name"], files, workunit["credit"]))


def _is_settled(workunit: Mapping[str, Any]) -> bool:
    """Reports whether a workunit has failed, or has output that can be fetched."""
    return workunit["state"] == "error" or "files" in workunit


def _error(workunit: Mapping[str, Any]) -> JobError:
    """Returns the error of a workunit that failed."""
    reasons = workunit.get("errors", [])
    failure = workunit.get("failure", {})
    kind = JobCanceled if "cancelled" in reasons else JobError
    return kind(workunit["name"], reasons, failure.get("exit_status"), failure.get("stderr", ""))
