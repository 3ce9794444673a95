"""The code in the documents and the notebook runs."""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path
from typing import Any, Dict

import pytest
from conftest import ROOT, Project


@pytest.fixture(autouse=True)
def scientist(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A scientist's environment, with an empty folder."""
    monkeypatch.setenv("STARLING_URL", project.url)
    monkeypatch.setenv("STARLING_TOKEN", project.token)
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "python" / "src"))
    monkeypatch.chdir(tmp_path)


def test_the_handbook(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = (ROOT / "docs" / "python.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    names: Dict[str, Any] = {"__name__": "__main__"}
    printed = []
    if importlib.util.find_spec("joblib") is None:
        blocks = [block for block in blocks if "joblib" not in block]
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)
        printed.append(capsys.readouterr().out)
    assert printed[0].splitlines() == [f"{i} LINE {i}" for i in range(40)]
    assert printed[2] == "HELLO\n"
    assert printed[3] == "SOME TEXT\n"
    assert printed[6] == "HELLO\n"
    assert [text[:15] for text in printed[7:]] == ["pi is about 3.1"] * (len(blocks) - 7)
    assert (tmp_path / "results" / "one-thread" / "out").read_text() == "SOME TEXT"


def test_the_notebook() -> None:
    """The notebook prints the output that is stored in it. With UPDATE=1, the output is stored."""
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    path = ROOT / "python" / "examples" / "tour.ipynb"
    notebook = nbformat.read(path, 4)
    stored = [cell.get("outputs") for cell in notebook.cells]
    nbclient.NotebookClient(notebook, timeout=240, kernel_name="python3").execute()
    for cell in notebook.cells:
        cell.metadata = {}  # times
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") == "stdout"]
    if os.environ.get("UPDATE"):
        nbformat.write(notebook, path)
    else:
        assert [cell.get("outputs") for cell in notebook.cells] == stored
