"""Run programs and Python functions on the computers of a Starling project.

    from starling_grid import Grid

    grid = Grid("https://project.example/", token)
    batch = grid.map("shout", ["hello", "world"], name="run-1")
    for result in batch:
        print(result.text())

Begin with `Grid`. docs/python.md is the handbook.
"""

from .batch import Batch, Estimate, JobFuture
from .errors import FunctionError, GridError, JobCanceled, JobError, Refused, Unreachable
from .executor import GridExecutor
from .functions import PythonExecutor
from .grid import Grid
from .jobs import Job, Output, Staged, Web
from .progress import Progress
from .results import Result

__version__ = "0.1.0"

__all__ = [
    "Batch",
    "Estimate",
    "FunctionError",
    "Grid",
    "GridError",
    "GridExecutor",
    "Job",
    "JobCanceled",
    "JobError",
    "JobFuture",
    "Output",
    "Progress",
    "PythonExecutor",
    "Refused",
    "Result",
    "Staged",
    "Unreachable",
    "Web",
]
