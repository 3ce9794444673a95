"""All output files of a batch, fetched as one archive."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from pathlib import Path, PurePosixPath
from typing import IO, Dict, Iterator, Tuple

from .errors import GridError
from .results import SUMMARY
from .transport import Transport


def read_all(transport: Transport, batch: str) -> Dict[str, Dict[str, bytes]]:
    """Returns the content of all output files, by job and file."""
    outputs: Dict[str, Dict[str, bytes]] = {}
    with tempfile.TemporaryFile() as into:
        for archive, job, file, member in _members(transport, batch, into):
            if file != SUMMARY:
                outputs.setdefault(job, {})[file] = archive.read(member)
    return outputs


def save_all(transport: Transport, batch: str, folder: Path) -> Dict[str, Dict[str, Path]]:
    """Saves all output files as FOLDER/JOB/FILE, and returns their paths by job and file."""
    folder.mkdir(parents=True, exist_ok=True)
    outputs: Dict[str, Dict[str, Path]] = {}
    with tempfile.TemporaryFile(dir=folder) as into:
        for archive, job, file, member in _members(transport, batch, into):
            path = folder / job / file
            if not path.resolve().is_relative_to(folder.resolve()):
                raise GridError(f"the archive has the file {member.filename}, which would be saved outside of {folder}")
            path.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(member) as source, path.open("wb") as target:
                shutil.copyfileobj(source, target)
            if file != SUMMARY:
                outputs.setdefault(job, {})[file] = path
    return outputs


def _members(
    transport: Transport, batch: str, into: IO[bytes]
) -> Iterator[Tuple[zipfile.ZipFile, str, str, zipfile.ZipInfo]]:
    """Fetches the archive into a file, and returns its files with their jobs and names."""
    transport.save(f"{batch}/outputs.zip", into)
    try:
        archive = zipfile.ZipFile(into)
    except zipfile.BadZipFile:
        raise GridError("the project could not complete the archive of the output files: try again") from None
    with archive:
        for member in archive.infolist():
            path = PurePosixPath(member.filename)
            if member.is_dir() or len(path.parts) < 2:
                continue  # failed.json
            yield archive, path.parts[0], str(PurePosixPath(*path.parts[1:])), member
