"""The jobs of a batch, and their form in a request."""

from __future__ import annotations

import base64
import collections
import difflib
import hashlib
import shlex
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Union

from .transport import Body


@dataclass(frozen=True)
class Staged:
    """An input that the project already has, by its name there. See `Grid.upload`."""

    name: str


@dataclass(frozen=True)
class Web:
    """An input that is on a web server.

    The project fetches it when the batch is made. If both `size` (in bytes) and `md5` are given,
    the volunteers' computers fetch it themselves.
    """

    url: str
    size: Optional[int] = None
    md5: Optional[str] = None


@dataclass(frozen=True)
class Output:
    """An input that is an output file of another job of the batch.

    `job` is the name of a job that precedes this one. `file` is the name of its output, which may be
    left out if it has only one.
    """

    job: str
    file: str = ""


Content = Union[str, bytes, Path, Staged, Web, Output]
"""An input file: text, bytes, the file at a path, a file that is elsewhere already, or another job's output."""


@dataclass(frozen=True)
class Job:
    """One run of a program.

    `inputs` are the input files, by the names under which the program opens them. A single input
    without a name is the file that `Grid.map` calls `input`. `args` are the program's arguments, as
    a list or as one line. `name` is the job's name within its batch, by default its index. `after`
    are the names of jobs that must succeed first. They precede this one in the batch.
    """

    inputs: Union[Content, Mapping[str, Content], None] = None
    args: Union[str, Sequence[str]] = ""
    name: str = ""
    after: Sequence[str] = ()


Item = Union[Job, Content, Mapping[str, Content]]
"""A job for `Grid.map`: a `Job`, or only its inputs."""

SETTINGS = (
    "priority",
    "quorum",
    "targets",
    "delay_bound",
    "fpops_est",
    "fpops_bound",
    "memory_bound",
    "disk_bound",
    "webhook",
)
"""The settings of a batch, which docs/api.md and docs/scientists.md explain."""

# An input that would take more bytes of a request than _SMALL, for all jobs that have it, is uploaded
# before. So are all that follow once a request has _REQUEST bytes of inputs. The project accepts
# requests of 64 MB.
_SMALL = 64 << 10
_REQUEST = 16 << 20

# The project's limit for a file, in bytes.
_LARGEST = 1 << 30


def make_jobs(items: Iterable[Item], args: Union[str, Sequence[str]] = "") -> List[Job]:
    """Returns a job for each item, with a name. `args` are those of jobs without any."""
    jobs = []
    for i, item in enumerate(items):
        job = item if isinstance(item, Job) else Job(inputs=item)
        if isinstance(job.after, str):
            raise TypeError(f'job {i} comes after the text "{job.after}": give a list of names')
        for content in _named(job, "").values():
            if not isinstance(content, (str, bytes, Path, Staged, Web, Output)):
                kind = type(content).__name__
                raise TypeError(
                    f"an input of job {i} is of the type {kind}: give text, bytes, a Path or a Job. "
                    "To send a number, convert it with str()"
                )
            if isinstance(content, Path) and not content.is_file():
                raise FileNotFoundError(f"job {i} has the input {content}, which is not a file: check its path")
            if isinstance(content, str) and _looks_like_a_file(content):
                warnings.warn(
                    f'job {i} has the text "{content}" as its input, and there is a file of that name: '
                    f'give Path("{content}") to send the file',
                    stacklevel=3,
                )
        jobs.append(replace(job, name=job.name or str(i), args=job.args or args))
    return jobs


def check(settings: Mapping[str, Any]) -> None:
    """Raises TypeError if a setting of a batch has an unknown name."""
    for name in settings:
        if name not in SETTINGS:
            near = difflib.get_close_matches(name, SETTINGS, 1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(SETTINGS)}"
            raise TypeError(f"there is no setting {name}: {hint}")


class Encoder:
    """Encodes the jobs of a batch for a request, and collects the inputs to be uploaded.

    An input that several jobs share is uploaded once. `uploads` has the content of each by its name
    at the project.
    """

    def __init__(self, batch: str, input: str) -> None:
        self.uploads: Dict[str, Body] = {}
        self._batch = batch
        self._input = input
        self._sent = 0
        self._names: Dict[Content, str] = {}  # of uploaded inputs
        self._uses: Dict[Content, int] = {}  # jobs that have an input

    def encode(self, jobs: Sequence[Job]) -> List[Dict[str, Any]]:
        """Returns the jobs as the API's workunits."""
        self._uses = collections.Counter(c for job in jobs for c in _named(job, self._input).values())
        return [self._workunit(job) for job in jobs]

    def _workunit(self, job: Job) -> Dict[str, Any]:
        line = job.args if isinstance(job.args, str) else shlex.join(job.args)
        workunit: Dict[str, Any] = {"name": job.name}
        if line:
            workunit["command_line"] = line
        if job.after:
            workunit["after"] = list(job.after)
        inputs = _named(job, self._input)
        if inputs:
            workunit["inputs"] = [{"name": name, **self._content(c)} for name, c in inputs.items()]
        return workunit

    def _content(self, content: Content) -> Dict[str, Any]:
        if isinstance(content, Staged):
            return {"staged": content.name}
        if isinstance(content, Output):
            return {"output_of": content.job, **({"file": content.file} if content.file else {})}
        if isinstance(content, Web):
            web: Dict[str, Any] = {"url": content.url, "copy": content.size is None or content.md5 is None}
            if content.size is not None:
                web["nbytes"] = content.size
            if content.md5 is not None:
                web["md5"] = content.md5
            return web
        if content in self._names:
            return {"staged": self._names[content]}
        body: Body = _utf8(content) if isinstance(content, str) else content
        size = body.stat().st_size if isinstance(body, Path) else len(body)
        if self._is_small(content, size):
            if isinstance(content, str):
                return {"text": content}
            return {"base64": base64.b64encode(body.read_bytes() if isinstance(body, Path) else body).decode()}
        if size > _LARGEST:
            name = str(body) if isinstance(body, Path) else "an input"
            raise ValueError(
                f"{name} has {size} bytes, and a project accepts {_LARGEST} at most: divide it, or put it on a web "
                "server and give Web(url, size, md5)"
            )
        # The name is the batch's alone: the project deletes a file with the last job that needs it,
        # and so may delete another batch's before this batch is made.
        name = self._names[content] = f"{self._batch}_{digest_of(body)[:32]}"
        self.uploads[name] = body
        return {"staged": name}

    def _is_small(self, content: Content, size: int) -> bool:
        """Reports whether an input of this size can be part of the request, and counts it."""
        small = size * self._uses[content] <= _SMALL and self._sent + size <= _REQUEST
        self._sent += size if small else 0
        return small


def _named(job: Job, input: str) -> Mapping[str, Content]:
    """Returns a job's inputs by name, with `input` for one without a name."""
    if job.inputs is None:
        return {}
    if isinstance(job.inputs, Mapping):
        return job.inputs
    return {input: job.inputs}


def _looks_like_a_file(text: str) -> bool:
    """Reports whether a text is probably meant to be the path of a file."""
    return len(text) < 200 and ("." in text or "/" in text) and "\n" not in text and "\0" not in text and Path(text).is_file()


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ValueError("an input is text that UTF-8 does not have: give it as bytes") from None


def digest_of(body: Body) -> str:
    """Returns the SHA-256 of some content, as hexadecimal digits."""
    if isinstance(body, bytes):
        return hashlib.sha256(body).hexdigest()
    digest = hashlib.sha256()
    with body.open("rb") as f:
        while piece := f.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()
