"""The form of jobs in a request."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Dict, List

import pytest

from starling_grid import Job, Output, Staged, Web
from starling_grid.jobs import Content, Encoder, Item, make_jobs


def test_inputs_by_kind() -> None:
    encoder = Encoder("run-1", "in")
    everything: Dict[str, Content] = {
        "text": "größe",
        "bytes": b"\xff",
        "staged": Staged("table"),
        "copied": Web("https://data.example.org/x"),
        "fetched": Web("https://data.example.org/x", 7, "0" * 32),
    }
    (workunit,) = encoder.encode([Job(everything, args=["-n", "two words"], name="a")])
    assert workunit == {
        "name": "a",
        "command_line": "-n 'two words'",
        "inputs": [
            {"name": "text", "text": "größe"},
            {"name": "bytes", "base64": "/w=="},
            {"name": "staged", "staged": "table"},
            {"name": "copied", "url": "https://data.example.org/x", "copy": True},
            {"name": "fetched", "url": "https://data.example.org/x", "copy": False, "nbytes": 7, "md5": "0" * 32},
        ],
    }
    assert encoder.uploads == {}


def test_jobs_after_others() -> None:
    jobs = make_jobs([Job("x", name="a"), Job(Output("a"), name="b"), Job({"in": Output("a", "out")}, name="c", after=["a", "b"])])
    workunits = Encoder("run-1", "in").encode(jobs)
    assert workunits[1]["inputs"] == [{"name": "in", "output_of": "a"}] and "after" not in workunits[1]
    assert workunits[2]["inputs"] == [{"name": "in", "output_of": "a", "file": "out"}] and workunits[2]["after"] == ["a", "b"]
    with pytest.raises(TypeError, match='job 0 comes after the text "ab": give a list of names'):
        make_jobs([Job("x", after="ab")])


def test_jobs_without_inputs() -> None:
    jobs = make_jobs([Job(), Job(args="own", name="b")], args="for all")
    assert Encoder("run-1", "in").encode(jobs) == [
        {"name": "0", "command_line": "for all"},
        {"name": "b", "command_line": "own"},
    ]


def test_large_inputs_are_staged(tmp_path: Path) -> None:
    path = tmp_path / "table"
    path.write_bytes(bytes(100_000))
    encoder = Encoder("run-1", "in")
    same: List[Item] = [path, bytes(100_000), "\0" * 100_000]
    names = {workunit["inputs"][0]["staged"] for workunit in encoder.encode(make_jobs(same))}
    assert set(encoder.uploads) == names and len(names) == 1
    # So are small ones that many jobs share.
    shared: List[Item] = [b"short", *[bytes(1_000)] * 100]
    first, *others = [workunit["inputs"][0] for workunit in encoder.encode(make_jobs(shared))]
    assert "base64" in first and {"staged"} == set().union(*others) - {"name"}
    assert len(encoder.uploads) == 2
    # Many small inputs are too much for a request, too.
    small = encoder.encode(make_jobs([i.to_bytes(2, "big") * 30_000 for i in range(512)]))
    sent = sum("base64" in workunit["inputs"][0] for workunit in small)
    assert sent == (16 << 20) // 60_000
    assert len(encoder.uploads) == 2 + 512 - sent


def test_mistakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match="job 1 has the input missing, which is not a file: check its path"):
        make_jobs(["a", Path("missing")])
    Path("data.csv").write_text("1,2")
    with pytest.warns(UserWarning, match=r'there is a file of that name: give Path\("data.csv"\)'):
        make_jobs(["data.csv"])
    os.truncate("data.csv", (1 << 30) + 1)
    with pytest.raises(ValueError, match="data.csv has 1073741825 bytes, and a project accepts 1073741824"):
        Encoder("run-1", "in").encode(make_jobs([Path("data.csv")]))
    with pytest.raises(ValueError, match="text that UTF-8 does not have: give it as bytes"):
        Encoder("run-1", "in").encode(make_jobs(["\ud800"]))
