"""Executors of `concurrent.futures` that send calls to a project."""

from __future__ import annotations

import concurrent.futures
import functools
import queue
import threading
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

from .batch import Batch
from .jobs import Item, Job, make_jobs
from .results import Result

# A batch is sent when no call has come for _QUIET seconds, or after _MOMENT seconds, or with _MOST
# jobs.
_QUIET = 0.05
_MOMENT = 1.0
_MOST = 5000

_DOWNLOADS = 8  # at the same time

Send = Callable[[Sequence[Job]], Batch]
Call = Tuple[Job, "Future[Any]", Callable[[Result], Any]]


class CollectingExecutor(Executor):
    """Collects calls for a moment and sends them as one batch."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._calls: "queue.SimpleQueue[Optional[Call]]" = queue.SimpleQueue()
        self._unfinished: Dict["Future[Any]", Optional[Batch]] = {}  # with the batch of those that were sent
        self._lock = threading.Lock()
        self._is_shut = self._is_canceled = False
        self._downloads = ThreadPoolExecutor(_DOWNLOADS, "starling_grid download")
        self._thread = threading.Thread(target=self._collect, name="starling_grid executor", daemon=True)
        self._thread.start()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Accepts no more calls. With `wait`, it returns when all calls are done.

        With `cancel_futures`, calls that were not sent yet are canceled. Those that were sent finish.
        """
        with self._lock:
            self._is_shut = True
            unfinished = list(self._unfinished)
        if cancel_futures:
            for future in unfinished:
                future.cancel()
        self._calls.put(None)
        if wait:
            self._thread.join()
            concurrent.futures.wait(unfinished)
            self._downloads.shutdown()

    def cancel(self) -> None:
        """Accepts no more calls, and cancels those that are not done, also at the project."""
        with self._lock:
            self._is_canceled = True
            sent = {batch for batch in self._unfinished.values() if batch is not None}
        self.shutdown(wait=False, cancel_futures=True)
        for batch in sent:
            batch.cancel()

    def _enqueue(self, item: Item, future: "Future[Any]", decode: Callable[[Result], Any]) -> None:
        """Accepts a call. Its future gets the value that `decode` returns for the job's result."""
        job = replace(make_jobs([item])[0], name="")  # a name would have to be unique in its batch
        with self._lock:
            if self._is_shut:
                raise RuntimeError("cannot schedule new futures after shutdown")
            self._unfinished[future] = None
            self._calls.put((job, future, decode))
        future.add_done_callback(self._forget)

    def _forget(self, future: "Future[Any]") -> None:
        with self._lock:
            self._unfinished.pop(future, None)

    def _collect(self) -> None:
        """Sends batches until the executor is shut down."""
        call = self._calls.get()
        while call is not None:
            calls = [call]
            end = time.monotonic() + _MOMENT
            try:
                while len(calls) < _MOST and time.monotonic() < end:
                    call = self._calls.get(timeout=_QUIET)
                    if call is None:
                        break
                    calls.append(call)
            except queue.Empty:
                pass
            self._send_batch([c for c in calls if c[1].set_running_or_notify_cancel()])
            if call is not None:
                call = self._calls.get()

    def _send_batch(self, calls: List[Call]) -> None:
        if not calls:
            return
        try:
            batch = self._send([job for job, _, _ in calls])
            with self._lock:
                self._unfinished.update({future: batch for _, future, _ in calls})
                is_canceled = self._is_canceled
            if is_canceled:
                batch.cancel()
            futures = batch.futures
        except Exception as e:
            for _, future, _ in calls:
                future.set_exception(e)
            return
        for (_, future, decode), sent in zip(calls, futures):
            sent.add_done_callback(functools.partial(self._downloads.submit, _settle, future, decode))


def _settle(future: "Future[Any]", decode: Callable[[Result], Any], sent: "Future[Result]") -> None:
    """Gives a call's future the outcome of its job."""
    try:
        future.set_result(decode(sent.result()))
    except Exception as e:
        future.set_exception(e)


class GridExecutor(CollectingExecutor):
    """Runs one application. The application takes the place of the function.

    `submit` takes a `Job` or its inputs, as `Grid.map` does, and returns a future of the `Result`.
    """

    def submit(self, item: Item, /) -> "Future[Result]":  # type: ignore[override] # see the class
        """Sends a job, soon and together with others."""
        future: "Future[Result]" = Future()
        self._enqueue(item, future, lambda result: result)
        return future

    def map(  # type: ignore[override] # see the class
        self, items: Iterable[Item], timeout: Optional[float] = None, chunksize: int = 1
    ) -> Iterator[Result]:
        """Sends a job for each item, and returns the results in the order of the items."""
        futures = [self.submit(item) for item in items]
        end = None if timeout is None else time.monotonic() + timeout
        return (future.result(None if end is None else end - time.monotonic()) for future in futures)
