"""Python functions on a real agent, whose Python is the one of the tests."""

from __future__ import annotations

import functools
import io
import math
import operator
import os
import pickle
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional

import pytest
import images
from conftest import PLATFORM, RUNNER, Project

from starling_grid import FunctionError, Grid, functions, runner
from starling_grid.jobs import Content, Encoder, make_jobs
from starling_grid.results import Result

LONG = 240


def average(values: List[float]) -> float:
    import statistics

    return statistics.mean(values)


def square_root_of(x: float) -> float:
    return math.sqrt(x)


def double(text: str) -> str:
    return 2 * text


class Point:
    def __init__(self, x: float) -> None:
        self.x = x


def x_of(point: Point) -> float:
    assert isinstance(point, Point)
    return point.x


def test_functions(grid: Grid) -> None:
    pytest.importorskip("cloudpickle")
    with grid.python("python") as executor:
        numbers = executor.map(math.factorial, range(5), timeout=LONG)
        third = executor.submit(Fraction, 1, 3)
        mean = executor.submit(average, values=[1.0, 2.0])
        wrong = executor.submit(square_root_of, -1)
        doubled = executor.submit(lambda text: double(text), "ab")
        of_own_class = executor.submit(x_of, Point(7))
        assert list(numbers) == [1, 1, 2, 6, 24]
        assert third.result(LONG) == Fraction(1, 3)
        assert mean.result(LONG) == 1.5
        assert doubled.result(LONG) == "abab"
        assert of_own_class.result(LONG) == 7
        with pytest.raises(ValueError, match="math domain error") as caught:
            wrong.result(LONG)
    assert isinstance(caught.value.__cause__, FunctionError)
    assert "in square_root_of" in str(caught.value.__cause__)


def test_functions_in_an_image(project: Project, grid: Grid, tmp_path: Path) -> None:
    if "run in the sandbox" not in project.doctor():
        pytest.skip("agents cannot run container images here, so Python functions in them are NOT tested")
    images.write(tmp_path / "python.tar")
    directory = str(project.directory)
    project.command("starling-server", "app", "add", directory, "pyimage")
    project.command(
        "starling-server", "version", "add", directory, "pyimage",
        "--platform", PLATFORM, "--version", "1.00", "--image", str(tmp_path / "python.tar"), "--python",
    )  # fmt: skip
    with grid.python("pyimage") as executor:
        mean = executor.submit(average, values=[1.0, 2.0])
        hostname = executor.submit(os.path.exists, "/etc/hostname")
        wrong = executor.submit(square_root_of, -1)
        assert mean.result(LONG) == 1.5
        assert not hostname.result(LONG)  # it sees the image, and not the computer
        with pytest.raises(Exception, match="math"):
            wrong.result(LONG)
    inputs: Dict[str, Content] = dict(of_another_python(functions.encode(average, ([1.0],), {})))
    refused = grid.run("pyimage", inputs, quorum=1, timeout=LONG)
    with pytest.raises(FunctionError, match=r"image has Python 3\.\d+, and the function was sent by Python 4\.\d+: use that"):
        functions.decode(refused, False)


def of_another_python(inputs: Dict[str, bytes]) -> Dict[str, bytes]:
    """Returns the inputs of a call as another version of Python sends them."""
    header, arguments = inputs["in"].split(b"\n", 1)
    return {**inputs, "in": header.replace(b"3.", b"4.") + b"\n" + arguments}


def run(inputs: Dict[str, bytes], folder: Path) -> "subprocess.CompletedProcess[str]":
    for name, content in inputs.items():
        (folder / name).write_bytes(content)
    return subprocess.run([sys.executable, RUNNER], cwd=folder, capture_output=True, text=True)


def test_partial_functions(tmp_path: Path) -> None:
    pytest.importorskip("cloudpickle")
    called: List[Callable[..., Any]] = [functools.partial(pow, 2), operator.methodcaller("__rpow__", 2)]
    for function in called:
        assert run(functions.encode(function, (5,), {}), tmp_path).returncode == 0
        assert decode((tmp_path / "out").read_bytes()) == 32


def test_installed_modules_are_not_sent() -> None:
    numpy = pytest.importorskip("numpy")
    pytest.importorskip("cloudpickle")
    assert len(functions.encode(numpy.median, ([1.0],), {})["function"]) < 1000


def test_another_version_of_python_is_refused(tmp_path: Path) -> None:
    done = run(of_another_python(functions.encode(average, ([1.0],), {})), tmp_path)
    version = "%d.%d" % sys.version_info[:2]
    assert done.returncode == 1
    assert done.stderr == f"this computer has Python {version}, and the function was sent by Python 4.{sys.version_info[1]}\n"


class Output(Result):
    """A result with a given content."""

    def __init__(self, content: bytes) -> None:
        self.job = "0"
        self._content = content

    def read(self, file: Optional[str] = None) -> bytes:
        return self._content


def decode(content: bytes, trusted: bool = False) -> Any:
    return functions.decode(Output(content), trusted)


class Evil:
    def __reduce__(self) -> Any:
        return os.mkdir, ("/nonexistent/evil",)


def test_calls_share_their_function(grid: Grid, one_batch: None) -> None:
    pytest.importorskip("cloudpickle")
    table = list(range(100_000))

    def sum_of(n: int) -> int:
        return sum(table[:n])

    with grid.python("python") as executor:
        sums = executor.map(sum_of, range(4), timeout=LONG)
    assert list(sums) == [0, 0, 1, 3]
    assert len(grid.batches()[0]) == 4
    encoder = Encoder("run-1", "in")
    encoder.encode(make_jobs(functions.encode(sum_of, (n,), {}) for n in range(4)))
    large = [body for body in encoder.uploads.values() if isinstance(body, bytes) and len(body) > 100_000]
    assert len(large) == 1


def test_an_output_runs_no_code() -> None:
    content = pickle.dumps({"value": Evil()})
    with pytest.raises(FunctionError, match="contains a posix.mkdir, which may run code on your computer"):
        decode(content)
    with pytest.raises(FunctionError, match="No such file"):
        decode(content, trusted=True)
    for content in (b"", b"x", pickle.dumps(7), pickle.dumps({"kind": "SystemExit"})):
        with pytest.raises(FunctionError, match="is not the value of a function"):
            decode(content)


def test_arrays_are_harmless() -> None:
    numpy = pytest.importorskip("numpy")
    for array in (numpy.arange(3.0), numpy.float64(2), numpy.array([1, 2])[::-1]):
        for protocol in (4, 5):
            assert numpy.array_equal(decode(pickle.dumps({"value": array}, protocol)), array)


def test_exceptions_keep_their_kind() -> None:
    def raises(call: str) -> BaseException:
        described = {"source": f"def f():\n    {call}", "name": "f"}
        outcome = runner.outcome_of(described, pickle.dumps(((), {})))  # type: ignore[no-untyped-call]
        with pytest.raises(Exception) as caught:
            decode(outcome)
        return caught.value

    assert raises("raise KeyError('x')").args == ("x",)
    assert type(raises("b'\\xff'.decode()")) is UnicodeDecodeError
    assert raises("raise ValueError(object)").args == ("<class 'object'>",)
    own = raises("class Own(Exception): pass\n    raise Own('why')")
    assert type(own) is FunctionError and str(own).startswith("Own: why\n")


def test_without_cloudpickle(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(functions, "_cloudpickle", lambda: None)
    assert run(functions.encode(average, ([1.0, 2.0],), {}), tmp_path).returncode == 0
    assert decode((tmp_path / "out").read_bytes()) == 1.5
    with pytest.raises(TypeError, match="square_root_of uses math from outside its body: import modules in its body"):
        functions.encode(square_root_of, (1,), {})
    with pytest.raises(TypeError, match="not a function that def made"):
        functions.encode(lambda: io, (), {})


def test_the_program_is_printed() -> None:
    printed = subprocess.run([sys.executable, "-m", "starling_grid"], capture_output=True, text=True)
    assert printed.stdout == RUNNER.read_text()
