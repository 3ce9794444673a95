"""The result of one job, whose files are fetched when they are asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, Mapping, Optional, Union
from urllib.parse import quote

from .errors import GridError
from .transport import Transport

# The file in which the project describes a result: its computers, run times and credit.
SUMMARY = "result.json"


class Result:
    """The result of a job that succeeded.

    `files` has the size of each output file in bytes, by name. `credit` is the credit that the
    project granted.
    """

    def __init__(self, transport: Transport, batch: str, job: str, files: Mapping[str, int], credit: float) -> None:
        self.job = job
        self.files: Dict[str, int] = {name: size for name, size in files.items() if name != SUMMARY}
        self.credit = credit
        self._transport = transport
        self._folder = f"{batch}/workunits/{quote(job, safe='')}/files/"

    def __repr__(self) -> str:
        return f"<Result of job {self.job}: {', '.join(self.files) or 'no files'}>"

    def read(self, file: Optional[str] = None) -> bytes:
        """Returns the content of an output file. Without a name, there must be only one."""
        return self._transport.fetch("GET", self._path(file))

    def text(self, file: Optional[str] = None) -> str:
        """Returns the content of an output file as text, which is in UTF-8."""
        return self.read(file).decode()

    def save(self, path: Union[str, Path], file: Optional[str] = None) -> Path:
        """Saves an output file, and returns the path. A file that is there is replaced."""
        path = Path(path)
        partial = path.with_name(path.name + ".part")
        with partial.open("wb") as into:
            self._transport.save(self._path(file), into)
        return partial.replace(path)

    def details(self) -> Dict[str, Any]:
        """Returns the project's description: the computers, their run times and credit."""
        details: Dict[str, Any] = json.loads(self._transport.fetch("GET", self._folder + SUMMARY))
        return details

    def _path(self, file: Optional[str]) -> str:
        if not self.files:
            raise GridError(
                f"the project has no output files of job {self.job}: the batch was retired, or the application "
                "writes none or stores them elsewhere"
            )
        names = ", ".join(self.files)
        if file is None:
            if len(self.files) != 1:
                raise ValueError(f"job {self.job} has {len(self.files)} output files ({names}): name one")
            file = next(iter(self.files))
        elif file not in self.files and file != SUMMARY:
            raise KeyError(f"job {self.job} has no output file {file}: there are {names}")
        return self._folder + quote(file)
