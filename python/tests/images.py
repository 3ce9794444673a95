"""A container image with this computer's Python, made without a network."""

from __future__ import annotations

import hashlib
import io
import json
import os
import platform
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Optional

_LEFT_OUT = {"test", "tests", "__pycache__", "site-packages", "dist-packages", "idlelib", "ensurepip", "tkinter", "pydoc_data", "lib2to3"}


def write(path: Path) -> None:
    """Writes an image with the interpreter of the tests, as docker save does."""
    layer = _layer()
    digest = hashlib.sha256(layer).hexdigest()
    config = {
        "architecture": "amd64" if platform.machine() == "x86_64" else "arm64",
        "os": "linux",
        "config": {"Cmd": ["python3"], "Env": ["PATH=/image"]},
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + digest]},
    }
    manifest = [{"Config": "config.json", "RepoTags": ["python:test"], "Layers": ["layer.tar"]}]
    with tarfile.open(path, "w") as archive:
        for name, content in (
            ("layer.tar", layer),
            ("config.json", json.dumps(config).encode()),
            ("manifest.json", json.dumps(manifest).encode()),
        ):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


def _layer() -> bytes:
    """Returns the interpreter, its libraries and the standard library, at the paths that they have here."""
    interpreter = os.path.realpath(sys.executable)
    listed = subprocess.run(["ldd", interpreter], capture_output=True, text=True).stdout
    libraries = {word for word in listed.split() if word.startswith("/")}
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w", dereference=False) as archive:
        for file in sorted({interpreter, *libraries}):
            archive.add(os.path.realpath(file), file)
        archive.add(os.path.dirname(os.__file__), filter=_kept)
        link = tarfile.TarInfo("image/python3")
        link.type, link.linkname = tarfile.SYMTYPE, interpreter
        archive.addfile(link)
    return layer.getvalue()


def _kept(entry: tarfile.TarInfo) -> Optional[tarfile.TarInfo]:
    return None if os.path.basename(entry.name) in _LEFT_OUT else entry
