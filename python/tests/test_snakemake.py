"""The example of a workflow."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, Project

from starling_grid import Grid


def test_the_handbook_shows_a_rule_of_the_workflow() -> None:
    shown = re.findall(r"```snakemake\n(.*?)```", (ROOT / "docs" / "python.md").read_text(), re.DOTALL)
    assert len(shown) == 1
    assert shown[0] in (ROOT / "python" / "examples" / "Snakefile").read_text()


def test_the_workflow(project: Project, grid: Grid, tmp_path: Path) -> None:
    snakemake = shutil.which("snakemake")
    if snakemake is None:
        pytest.skip("there is no snakemake")
    path = str(ROOT / "python" / "src")
    environment = {**os.environ, "STARLING_URL": project.url, "STARLING_TOKEN": project.token, "PYTHONPATH": path}

    command = [snakemake, "--cores", "1", "-s", str(ROOT / "python" / "examples" / "Snakefile")]

    def run() -> None:
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    (tmp_path / "texts").mkdir()
    for name in ("b", "a"):
        (tmp_path / "texts" / f"{name}.txt").write_text(f"text {name}" * len(name))
    run()
    assert (tmp_path / "shouted" / "b.txt").read_text() == "TEXT B"
    assert (tmp_path / "table.csv").read_text() == "name,letters\na,6\nb,6\n"
    batches = len(grid.batches())
    shutil.rmtree(tmp_path / "shouted")
    (tmp_path / "table.csv").unlink()
    run()
    assert (tmp_path / "shouted" / "b.txt").read_text() == "TEXT B"
    assert len(grid.batches()) == batches
