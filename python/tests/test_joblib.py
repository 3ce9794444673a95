"""Calls of joblib on a real agent."""

from __future__ import annotations

import math
import threading
from typing import Iterator, List

import pytest

from starling_grid import FunctionError, Grid, PythonExecutor, functions

pytest.importorskip("joblib")
import joblib
from joblib import Parallel, delayed

import starling_grid.joblib

LONG = 240


def square(x: int) -> int:
    return x * x


def double(x: int) -> int:
    return square(x) * 2 // x


@pytest.fixture(autouse=True)
def backend(grid: Grid) -> Iterator[None]:
    pytest.importorskip("cloudpickle")
    starling_grid.joblib.register(grid, "python")
    with joblib.parallel_backend("starling"):
        yield


def test_calls(grid: Grid) -> None:
    calls = (delayed(f)(x) for x in range(1, 4) for f in (square, double, math.factorial))
    assert Parallel(n_jobs=2, timeout=LONG)(calls) == [1, 2, 1, 4, 4, 2, 9, 6, 6]


def test_a_batch_of_calls_is_a_job(grid: Grid, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("starling_grid.joblib._WORKERS", 2)
    calls = [delayed(f)(x) for x in range(1, 6) for f in (square, double)]
    assert Parallel(batch_size=5, pre_dispatch="all", timeout=LONG)(calls) == [1, 2, 4, 4, 9, 6, 16, 8, 25, 10]
    assert len(grid.batches()[0]) == 2


def test_an_error_cancels_the_other_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    canceled: List[PythonExecutor] = []

    def cancel(executor: PythonExecutor) -> None:
        canceled.append(executor)
        executor.shutdown(wait=False)

    monkeypatch.setattr(PythonExecutor, "cancel", cancel)
    with pytest.raises(ZeroDivisionError) as caught:
        Parallel(timeout=LONG)(delayed(lambda x: 1 / x)(x) for x in range(2))
    assert isinstance(caught.value.__cause__, FunctionError)
    assert len(canceled) == 1
    assert Parallel(timeout=LONG)([delayed(square)(3)]) == [9]


def test_an_argument_that_cannot_be_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes up in the thread that sends the calls after the first ones."""
    monkeypatch.setattr("starling_grid.joblib._WORKERS", 2)
    with pytest.raises(TypeError, match="cannot pickle"):
        Parallel(pre_dispatch=1, timeout=LONG)(delayed(square)(x) for x in [1, threading.Lock(), 2])


def test_without_cloudpickle(grid: Grid, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "_cloudpickle", lambda: None)
    with pytest.raises(ImportError, match="the joblib backend needs cloudpickle: pip install cloudpickle"):
        starling_grid.joblib.register(grid, "python")
