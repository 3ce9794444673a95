"""The progress of a batch, as numbers and as a bar."""

from __future__ import annotations

import concurrent.futures
import sys
import time
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Optional, Sequence


@dataclass(frozen=True)
class Progress:
    """The state of a batch's jobs.

    `done` jobs have succeeded or failed, and `failed` of them have failed or were canceled.
    `finished` is true once every job is done and all output can be fetched.
    """

    total: int
    done: int
    failed: int
    finished: bool

    def __str__(self) -> str:
        failed = f", {self.failed} failed" if self.failed else ""
        return f"{self.done} of {self.total} jobs done{failed}"


def progress_of(batch: Mapping[str, Any]) -> Progress:
    """Returns the progress that an answer of the API describes."""
    total, failed = batch["workunits"], batch["failed"]
    return Progress(total, total - batch["unfinished"], failed, batch["done"])


# Seconds between two lines where there is no tqdm.
_BETWEEN_LINES = 5.0


def show(futures: Sequence["concurrent.futures.Future[Any]"], name: str, timeout: Optional[float]) -> None:
    """Shows a progress bar until all futures are done, or TimeoutError is raised.

    The bar is tqdm's if that is installed, else a line on standard error every few seconds.
    """
    bar_of = _bar()
    if bar_of is None:
        _lines(futures, name, timeout)
        return
    with bar_of(total=len(futures), desc=name, unit="job") as bar:
        failed = 0
        for future in concurrent.futures.as_completed(futures, timeout):
            if future.exception() is not None:
                failed += 1
                bar.set_postfix(failed=failed)
            bar.update(1)


def _bar() -> Optional[Callable[..., Any]]:
    """Returns tqdm, or None if it is not installed."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    bar: Callable[..., Any] = tqdm
    return bar


def _lines(futures: Sequence["concurrent.futures.Future[Any]"], name: str, timeout: Optional[float]) -> None:
    done = failed = 0
    shown = float("-inf")
    for future in concurrent.futures.as_completed(futures, timeout):
        done += 1
        failed += future.exception() is not None
        if time.monotonic() - shown >= _BETWEEN_LINES or done == len(futures):
            print(f"{name}: {Progress(len(futures), done, failed, False)}", file=sys.stderr)
            shown = time.monotonic()
