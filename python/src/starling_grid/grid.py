"""A project, to which batches are sent."""

from __future__ import annotations

import datetime
import os
import secrets
import urllib.parse
from pathlib import Path
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from .batch import Batch, Estimate, estimate_of
from .errors import GridError, Refused
from .executor import GridExecutor
from .functions import PythonExecutor
from .jobs import Content, Encoder, Item, Job, Staged, check, digest_of, make_jobs
from .results import Result
from .transport import Body, Transport


class Grid:
    """A project and a token for it.

    `url` is the project's address and `token` comes from the project's operator. By default they
    are the environment variables STARLING_URL and STARLING_TOKEN. A request is repeated for
    `patience` seconds while the project does not answer, and those that follow a batch for as long as
    it takes. A grid is safe for concurrent use.
    """

    def __init__(self, url: Optional[str] = None, token: Optional[str] = None, *, patience: float = 600) -> None:
        self._transport = Transport(
            _given(url, "url", "STARLING_URL", "the address of the project"),
            _given(token, "token", "STARLING_TOKEN", "a token, which the project's operator creates"),
            patience,
        )

    def __repr__(self) -> str:
        return f"<Grid {self._transport.url}>"

    def run(
        self,
        app: str,
        inputs: Union[Content, Mapping[str, Content], None] = None,
        *,
        args: Union[str, Sequence[str]] = "",
        input: str = "in",
        timeout: Optional[float] = None,
        name: Optional[str] = None,
        **settings: Any,
    ) -> Result:
        """Runs one job, waits for it and returns its result.

        It raises `JobError` if the job fails, and TimeoutError after `timeout` seconds. The job
        continues: give it a name to return to it. The other parameters are those of `map`.
        """
        return self.map(app, [Job(inputs, args)], input=input, name=name, **settings).futures[0].result(timeout)

    def map(
        self,
        app: str,
        items: Iterable[Item],
        *,
        args: Union[str, Sequence[str]] = "",
        input: str = "in",
        name: Optional[str] = None,
        **settings: Any,
    ) -> Batch:
        """Sends a batch of jobs for an application, and returns it at once.

        Each item is a `Job` or its inputs: text, bytes, a `Path`, or a dictionary of these by the
        names under which the program opens them. `input` is the name of an input that has none.
        `args` are the program's arguments for jobs without any.

        With a `name` of your choice, the same call returns the same batch again, also in another
        process, and computes nothing twice. The name consists of up to 60 letters, digits, `_`, `.`
        and `-`.

        `settings` are those of a batch: quorum, targets, priority, delay_bound, fpops_est,
        fpops_bound, memory_bound, disk_bound and webhook. docs/api.md explains them.
        """
        body, uploads = _body(app, make_jobs(items, args), input, name, settings)
        answer = self._submit(body, uploads, known=name is not None)
        return Batch(self._transport, answer, [workunit["name"] for workunit in body["workunits"]])

    def estimate(
        self,
        app: str,
        items: Iterable[Item],
        *,
        args: Union[str, Sequence[str]] = "",
        input: str = "in",
        **settings: Any,
    ) -> Estimate:
        """Predicts the time that a batch would take, and sends none.

        The prediction is based on `fpops_est`, the floating-point operations of a job. The
        parameters are those of `map`.
        """
        body, _ = _body(app, make_jobs(items, args), input, None, settings)
        return estimate_of(self._transport.call("POST", "estimate", body))

    def batch(self, name: Union[str, int]) -> Batch:
        """Returns the batch with this name or number, which any process of this token has sent."""
        if isinstance(name, int):
            return Batch(self._transport, self._transport.call("GET", f"batches/{name}"))
        answer = self._find(name)
        if answer is None:
            raise GridError(f"this token has no batch named {name}: batches() lists the newest ones")
        return Batch(self._transport, answer)

    def batches(self) -> List[Batch]:
        """Returns the newest hundred batches of this token, the newest first."""
        answer = self._transport.call("GET", "batches")
        return [Batch(self._transport, one) for one in answer["batches"]]

    def upload(self, path: Union[str, Path]) -> Staged:
        """Uploads a file that many batches need, and returns it as an input.

        The project deletes it with the last job that needs it.
        """
        path = Path(path)
        name = digest_of(path)[:32]
        self._upload(name, path)
        return Staged(name)

    def executor(
        self, app: str, *, args: Union[str, Sequence[str]] = "", input: str = "in", **settings: Any
    ) -> GridExecutor:
        """Returns an executor that runs an application.

        The parameters are those of `map`, and the executor's `submit` takes one of its items.
        """
        check(settings)
        return GridExecutor(lambda jobs: self.map(app, jobs, args=args, input=input, **settings))

    def python(self, app: str, *, trusted: bool = False, **settings: Any) -> PythonExecutor:
        """Returns an executor that runs Python functions.

        `app` is an application for Python functions, see docs/python.md: its versions are images with
        Python, or the program that `python -m starling_grid` prints. With
        `trusted`, functions may return any object. Only use it if you trust all computers of the
        project, since an object from a stranger can run code on your computer.
        """
        check(settings)
        settings.setdefault("quorum", 1)  # values may differ in their last digits
        return PythonExecutor(lambda jobs: self.map(app, jobs, **settings), trusted)

    def _submit(self, body: Mapping[str, Any], uploads: Mapping[str, Body], known: bool) -> Mapping[str, Any]:
        """Sends a batch and the inputs that it names, which a batch that exists has already."""
        if uploads and known and self._find(body["name"]) is not None:
            try:
                return self._post(body)
            except Refused as e:
                if e.status != 422:
                    raise
        for name, content in uploads.items():
            self._upload(name, content)
        return self._post(body)

    def _upload(self, name: str, content: Body) -> None:
        """Uploads an input, whose name ends with the digest of the content that was meant."""
        self._transport.upload("files/" + name, content)
        if isinstance(content, Path) and not name.endswith(digest_of(content)[:32]):
            self._transport.fetch("DELETE", "files/" + name)
            raise GridError(f"{content} was changed while it was sent, and no job was sent: call again once it is complete")

    def _post(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        answer: Mapping[str, Any] = self._transport.call("POST", "batches", body)
        return answer

    def _find(self, name: str) -> Optional[Mapping[str, Any]]:
        """Returns the batch with this name, or None."""
        query = urllib.parse.urlencode({"name": name})
        for one in self._transport.call("GET", f"batches?{query}")["batches"]:
            if one["name"] == name:
                found: Mapping[str, Any] = one
                return found
        return None


def _body(
    app: str, jobs: Sequence[Job], input: str, name: Optional[str], settings: Mapping[str, Any]
) -> Tuple[Dict[str, Any], Dict[str, Body]]:
    """Returns a batch as a request, and the inputs to be uploaded before it."""
    check(settings)
    name = name if name is not None else _new_name()
    encoder = Encoder(name, input)
    return {**settings, "name": name, "app": app, "workunits": encoder.encode(jobs)}, encoder.uploads


def _given(value: Optional[str], parameter: str, variable: str, meaning: str) -> str:
    """Returns a parameter, or else an environment variable."""
    given: str = value or os.environ.get(variable) or ""
    given = given.strip()
    if not given:
        raise ValueError(f"there is no {parameter}: give {meaning}, or set the environment variable {variable}")
    return given


def _new_name() -> str:
    """Returns a name that no batch has."""
    return f"py-{datetime.datetime.now():%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"
