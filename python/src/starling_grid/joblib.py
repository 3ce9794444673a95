"""A backend of joblib that sends calls to a project.

    import starling_grid.joblib

    starling_grid.joblib.register(grid, "python")
    with joblib.parallel_backend("starling"):
        values = Parallel()(delayed(f)(x) for x in xs)

A batch of joblib's calls becomes one job. The computers do not need joblib for it.
"""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from joblib import parallel

from .functions import PythonExecutor, has_cloudpickle
from .grid import Grid

# The number of workers that joblib counts on. It sends twice as many batches ahead.
_WORKERS = 1000

Call = Tuple[Callable[..., Any], Tuple[Any, ...], Dict[str, Any]]


def register(grid: Grid, app: str, *, trusted: bool = False, **settings: Any) -> None:
    """Registers the backend "starling", which sends calls as `grid.python` does with these parameters."""
    if not has_cloudpickle():
        raise ImportError("the joblib backend needs cloudpickle: pip install cloudpickle")

    def start() -> PythonExecutor:
        return grid.python(app, trusted=trusted, **settings)

    start().shutdown()  # checks the settings
    parallel.register_parallel_backend("starling", lambda **kwargs: Backend(start, **kwargs))


class Backend(parallel.ParallelBackendBase):  # type: ignore[misc] # joblib has no types
    """Sends all calls, whatever `n_jobs` is. The project decides how many run at the same time."""

    default_n_jobs = -1
    supports_timeout = True
    supports_retrieve_callback = True

    def __init__(self, start: Callable[[], PythonExecutor], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._start = start
        self._executor: Optional[PythonExecutor] = None

    def effective_n_jobs(self, n_jobs: Optional[int]) -> int:
        return _WORKERS

    def submit(self, func: Any, callback: Callable[["Future[List[Any]]"], Any]) -> "Future[List[Any]]":
        error = None
        try:
            if self._executor is None:
                self._executor = self._start()
            future = self._executor.submit(*_merged(func.items))
        except Exception as e:
            future, error = Future(), e
        future.get = future.result  # type: ignore[attr-defined] # joblib's name for it
        future.add_done_callback(callback)
        if error is not None:
            # It is not raised, because joblib also calls this from threads where it would be lost. In
            # this thread, the callback would call this method again, with the next batch.
            threading.Thread(target=future.set_exception, args=[error]).start()
        return future

    apply_async = submit  # the name in joblib before 1.5

    def retrieve_result_callback(self, out: "Future[List[Any]]") -> List[Any]:
        return out.result()

    def stop_call(self) -> None:
        if self._executor is not None:
            self._executor.shutdown(wait=False)
        self._executor = None

    def abort_everything(self, ensure_ready: bool = True) -> None:
        if self._executor is not None:
            self._executor.cancel()
        self._executor = None


def _merged(calls: Sequence[Call]) -> Tuple[Callable[..., List[Any]], List[Tuple[int, Tuple[Any, ...], Dict[str, Any]]]]:
    """Returns a function, and the argument with which it makes several calls."""
    functions = list({id(function): function for function, _, _ in calls}.values())
    places = {id(function): place for place, function in enumerate(functions)}

    # The functions are part of this one, since jobs share a function and not their arguments.
    def merged(calls: List[Tuple[int, Tuple[Any, ...], Dict[str, Any]]]) -> List[Any]:
        return [functions[place](*args, **kwargs) for place, args, kwargs in calls]

    merged.__module__ = getattr(functions[0], "__module__", "")  # which is sent with it
    return merged, [(places[id(function)], args, kwargs) for function, args, kwargs in calls]
