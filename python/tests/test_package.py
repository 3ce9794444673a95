"""The package as people install it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import venv
from pathlib import Path
from typing import Dict

import pytest
from conftest import ROOT, Project

from starling_grid import Grid

LONG = 240

CODE = """
import starling_grid
grid = starling_grid.Grid()
print(starling_grid.__version__, grid.batch("packed").outputs(), [r.text() for r in grid.batch("packed")])
"""
PRINTED = "0.1.0 {'0': {'out': b'HELLO'}} ['HELLO']\n"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source archive."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([ROOT / "tools" / "python", folder, sys.executable], check=True)
    return folder


@pytest.fixture(scope="module")
def environment(project: Project) -> Dict[str, str]:
    """The environment of a scientist, whose batch is done."""
    Grid(project.url, project.token).run("shout", "hello", name="packed", timeout=LONG)
    return {"PATH": os.environ["PATH"], "STARLING_URL": project.url, "STARLING_TOKEN": project.token}


def test_the_wheel_in_a_fresh_environment(built: Path, environment: Dict[str, str], tmp_path: Path) -> None:
    venv.create(tmp_path, with_pip=True)
    python = tmp_path / "bin" / "python"
    (wheel,) = built.glob("*.whl")
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-index", wheel], check=True)
    done = subprocess.run([python, "-c", CODE], env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (PRINTED, "")
    printed = subprocess.run([python, "-m", "starling_grid"], cwd=tmp_path, capture_output=True, text=True)
    assert printed.stdout.startswith("#!/usr/bin/env python3\n")


@pytest.mark.parametrize("version", ["3.9", "3.10", "3.11", "3.12", "3.13", "3.14"])
def test_versions_of_python(version: str, built: Path, environment: Dict[str, str]) -> None:
    python = shutil.which(f"python{version}")
    if python is None or subprocess.run([python, "-c", ""], capture_output=True).returncode != 0:
        pytest.skip(f"there is no python{version}")
    (wheel,) = built.glob("*.whl")
    path = {"PYTHONPATH": str(wheel), "PYTHONWARNINGS": "error"}
    done = subprocess.run([python, "-c", CODE], env={**environment, **path}, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (PRINTED, "")


def test_the_source_archive_is_complete(built: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as t:
        names = {name.split("/", 1)[1] for name in t.getnames() if "/" in name}
    sources = {str(p.relative_to(ROOT / "python")) for p in (ROOT / "python" / "src").rglob("*.py*") if "__pycache__" not in str(p)}
    assert {"LICENSE", "README.md", "pyproject.toml"} | {s for s in sources if "egg-info" not in s} <= names
