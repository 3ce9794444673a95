"""Jobs and batches of a real project."""

from __future__ import annotations

import concurrent.futures
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable, List, Sequence

import pytest
from conftest import Project

from starling_grid import Batch, Grid, GridError, GridExecutor, Job, JobCanceled, JobError, Output, Refused, Unreachable, progress
from starling_grid.jobs import Item

# A job takes seconds. After this many a test has failed.
LONG = 240


def test_one_job(grid: Grid) -> None:
    result = grid.run("shout", "hello", timeout=LONG)
    assert result.text() == "HELLO"
    assert result.files == {"out": 5}
    assert result.details()["canonical"]["hostid"] == 1


def test_map_in_order(grid: Grid, tmp_path: Path) -> None:
    batch = grid.map("shout", [f"line {i}" for i in range(40)], name="forty")
    seen = {future.job for future in batch.as_completed(LONG)}
    assert seen == {str(i) for i in range(40)}
    assert [result.text() for result in batch] == [f"LINE {i}" for i in range(40)]
    assert str(batch.progress()) == "40 of 40 jobs done"
    assert batch.progress().finished
    assert batch.outputs()["7"] == {"out": b"LINE 7"}
    paths = batch.outputs(tmp_path / "größe")
    assert paths["39"]["out"].read_text() == "LINE 39"
    assert (tmp_path / "größe" / "39" / "result.json").exists()
    assert batch.failures() == {}


def test_every_kind_of_input(grid: Grid, tmp_path: Path) -> None:
    path = tmp_path / "größe 1.txt"
    path.write_text("from a file")
    staged = grid.upload(path)
    items: List[Item] = ["größe", b"bytes\xff", path, staged, {"in": "named"}, Job("job", name="my.job")]
    outputs = grid.map("shout", items).outputs()
    assert outputs["0"]["out"].decode() == "GRößE"  # tr knows ASCII only
    assert outputs["1"]["out"] == b"BYTES\xff"
    assert outputs["2"]["out"] == outputs["3"]["out"] == b"FROM A FILE"
    assert outputs["4"]["out"] == b"NAMED"
    assert outputs["my.job"]["out"] == b"JOB"


def test_arguments_arrive_as_they_are(grid: Grid) -> None:
    args = ["args", "two words", "it's", 'a "quote"', "$HOME", ""]
    result = grid.run("shout", "", args=args, timeout=LONG)
    assert result.text() == "".join(arg.upper() + "\n" for arg in args)


def test_large_inputs(grid: Grid, tmp_path: Path) -> None:
    path = tmp_path / "large"
    path.write_bytes(b"a" * (3 << 20))
    batch = grid.map("shout", [path, path, b"b" * (1 << 20)], name="large")
    for result, size, letter in zip(batch, [3 << 20, 3 << 20, 1 << 20], b"AAB"):
        assert result.read() == bytes([letter]) * size
    again = grid.map("shout", [path, path, b"b" * (1 << 20)], name="large")
    assert again.id == batch.id


def test_an_input_that_changes_while_it_is_sent(grid: Grid, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "growing"
    path.write_bytes(b"a" * (1 << 20))
    once = grid._transport._once

    def slow(method: str, *args: Any) -> None:
        with path.open("ab") as f:
            f.write(b"more" if method == "PUT" else b"")
        once(method, *args)

    monkeypatch.setattr(grid._transport, "_once", slow)
    with pytest.raises(GridError, match="growing was changed while it was sent"):
        grid.map("shout", [path], name="growing")
    with pytest.raises(GridError, match="growing was changed while it was sent"):
        grid.upload(path)
    with pytest.raises(GridError, match="no batch named growing"):
        grid.batch("growing")


def test_save_replaces_a_file(grid: Grid, tmp_path: Path) -> None:
    (tmp_path / "out.txt").write_text("old")
    result = grid.run("shout", "new", timeout=LONG)
    assert result.save(tmp_path / "out.txt").read_text() == "NEW"
    assert [p.name for p in tmp_path.iterdir()] == ["out.txt"]
    with pytest.raises(KeyError, match="no output file other: there are out"):
        result.read("other")


def test_a_failing_job(grid: Grid) -> None:
    batch = grid.map("shout", ["good", Job("the flu", args="fail")])
    with pytest.raises(JobError, match="no cure for the flu") as caught:
        batch.futures[1].result(LONG)
    assert caught.value.exit_status == 3
    assert caught.value.reasons == ["too many total results"]
    assert caught.value.stderr.startswith("no cure for the flu\n")
    assert batch.wait(LONG).failed == 1
    assert list(batch.outputs()) == ["0"]
    assert str(batch.failures()["1"]) == str(caught.value)
    with pytest.raises(JobError):
        list(batch)


def test_jobs_after_others(grid: Grid) -> None:
    chain = [
        Job("spring", name="a"),
        Job(Output("a"), name="b"),
        Job("autumn", args="fail", name="c"),
        Job(Output("c", "out"), name="d", after=["b"]),
    ]
    batch = grid.map("shout", chain, quorum=1)
    assert batch.futures[1].result(LONG).text() == "SPRING"
    with pytest.raises(JobError, match="job d failed: predecessor failed"):
        batch.futures[3].result(LONG)
    with pytest.raises(Refused, match='"a" comes after "b", which is not listed before it'):
        grid.map("shout", [Job("x", name="a", after=["b"]), Job("y", name="b")])


def test_cancel(grid: Grid) -> None:
    batch = grid.map("shout", [Job("x", args="hang")] * 2)
    batch.cancel()
    with pytest.raises(JobCanceled):
        batch.futures[0].result(LONG)
    state = batch.wait(LONG)
    assert (state.failed, state.finished) == (2, True)


def test_more_jobs_than_a_page(grid: Grid) -> None:
    """The project lists a thousand jobs at a time. Those of a page that is done are not lost."""
    batch = grid.map("shout", [Job("x", args="hang")] * 1001, name="pages")
    batch.cancel()
    again = grid.batch("pages")
    assert again.wait(LONG).failed == 1001
    assert {type(future.exception(LONG)) for future in again.futures + grid.batch("pages").futures} == {JobCanceled}
    assert len(again.failures()) == 1001


def test_the_same_name_is_the_same_batch(grid: Grid, project: Project) -> None:
    batch = grid.map("shout", ["a", "b"], name="again")
    assert grid.map("shout", ["a", "b"], name="again").id == batch.id
    for other in (["a", "b", "c"], ["a", "c"]):
        with pytest.raises(Refused, match="another batch called") as caught:
            grid.map("shout", other, name="again")
        assert caught.value.status == 409
    code = "import starling_grid; print([r.text() for r in starling_grid.Grid().batch('again')])"
    environment = {**os.environ, "STARLING_URL": project.url, "STARLING_TOKEN": project.token}
    printed = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=LONG)
    assert (printed.stdout, printed.stderr) == ("['A', 'B']\n", "")
    assert "again" in [batch.name for batch in grid.batches()]
    assert grid.batch(batch.id).name == "again"
    with pytest.raises(GridError, match="no batch named missing"):
        grid.batch("missing")


def test_the_server_is_killed(grid: Grid, project: Project) -> None:
    batch = grid.map("shout", [f"line {i}" for i in range(10)], name="killed")
    done = batch.as_completed(LONG)
    next(done)
    project.kill_server()
    with concurrent.futures.ThreadPoolExecutor() as pool:
        sent = pool.submit(grid.map, "shout", ["meanwhile"], name="meanwhile")
        refused = Grid(project.url, project.token, patience=1)
        with pytest.raises(Unreachable, match="does not answer"):
            refused.batches()
        project.start_server()
        assert [result.text() for result in sent.result(LONG)] == ["MEANWHILE"]
    assert [result.text() for result in batch] == [f"LINE {i}" for i in range(10)]
    assert sum(one.name == "meanwhile" for one in grid.batches()) == 1


def test_executor(grid: Grid, one_batch: None) -> None:
    with grid.executor("shout") as executor:
        assert isinstance(executor, concurrent.futures.Executor)
        futures = [executor.submit(f"call {i}") for i in range(5)]
        mapped = executor.map(["x", "y"], timeout=LONG)
    assert [result.text() for result in mapped] == ["X", "Y"]
    assert [future.result(LONG).text() for future in futures] == [f"CALL {i}" for i in range(5)]
    assert len(grid.batches()[0]) == 7
    with pytest.raises(RuntimeError):
        executor.submit("late")


def test_canceled_executor(grid: Grid, one_batch: None) -> None:
    executor = grid.executor("shout")
    future = executor.submit(Job("x", args="hang"))
    executor.shutdown(wait=False)
    executor._thread.join()  # now it is sent
    executor.cancel()
    with pytest.raises(JobCanceled):
        future.result(LONG)


def test_executor_is_canceled_while_it_sends(grid: Grid) -> None:
    def send(jobs: Sequence[Job]) -> Batch:
        executor.cancel()
        return grid.map("shout", jobs)

    executor = GridExecutor(send)
    with pytest.raises(JobCanceled):
        executor.submit(Job("x", args="hang")).result(LONG)


def test_executor_is_canceled_before_it_sends(grid: Grid, one_batch: None) -> None:
    executor = grid.executor("shout")
    future = executor.submit("x")
    executor.cancel()
    assert future.cancelled()


def test_executor_passes_a_refusal_on(grid: Grid) -> None:
    with grid.executor("nothing") as executor:
        with pytest.raises(Refused, match='no application "nothing": ask'):
            executor.submit("x").result(LONG)


def test_retire(grid: Grid) -> None:
    batch = grid.map("shout", ["x"])
    batch.wait()
    batch.retire()
    reads: List[Callable[[], object]] = [batch.outputs, batch.futures[0].result().read]
    for late in reads:
        with pytest.raises(Refused, match="the batch was retired: to compute it again"):
            late()
    with pytest.raises(GridError, match="no output files of job 0: the batch was retired"):
        next(iter(grid.batch(batch.name))).read()


def test_estimate(grid: Grid, tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"x" * (1 << 20))
    planned = grid.estimate("shout", [tmp_path / "large"] * 1000)
    assert planned.computers == 1 and planned.seconds, planned
    batch = grid.map("shout", ["x"])
    batch.wait()
    assert batch.estimate().text


def test_progress(grid: Grid, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    batch = grid.map("shout", ["x", "y"], name="shown")
    batch.wait(LONG, progress=True)
    assert "2/2" in capsys.readouterr().err
    monkeypatch.setattr(progress, "_bar", lambda: None)
    batch.wait(LONG, progress=True)
    assert "shown: 2 of 2 jobs done\n" in capsys.readouterr().err
