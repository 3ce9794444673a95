"""An executor for Python functions.

A call is a job whose program is `runner`. Its inputs are `in`, a line of JSON with the version of
Python and a pickle of the arguments, and `function`, a pickle that describes the function. Calls of
the same function share the latter. The output is a pickle, too, which is read with care, because it
comes from somebody else's computer.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import importlib
import inspect
import io
import json
import pickle
import sys
import textwrap
import zipfile
from concurrent.futures import Future
from pathlib import Path
from types import ModuleType
from typing import Any, Callable, Dict, Iterator, Optional, Tuple, TypeVar

from .errors import FunctionError, GridError
from .executor import CollectingExecutor, Send
from .results import Result

T = TypeVar("T")

_PROTOCOL = 5  # of pickles, which Python has since version 3.8

# The types that a function may return to a caller who does not trust the computers, besides those
# that pickles have themselves. None of them runs code when it is unpickled.
_HARMLESS = {
    "builtins": {"complex", "frozenset", "range", "set", "slice"},
    "collections": {"Counter", "OrderedDict", "deque"},
    "datetime": {"date", "datetime", "time", "timedelta", "timezone"},
    "decimal": {"Decimal"},
    "fractions": {"Fraction"},
    "numpy": {"dtype", "ndarray"},
    "numpy.core.multiarray": {"_reconstruct", "scalar"},
    "numpy.core.numeric": {"_frombuffer"},
    "numpy._core.multiarray": {"_reconstruct", "scalar"},
    "numpy._core.numeric": {"_frombuffer"},
    "uuid": {"UUID"},
}


class PythonExecutor(CollectingExecutor):
    """Runs Python functions on the computers of a project.

    The computers need the same version of Python (3.N) and the modules that a function imports. A
    function that is not part of Python is sent with its module's other functions and variables if
    `cloudpickle` is installed here. Otherwise it is sent as source text, and has to import modules in
    its body.
    """

    def __init__(self, send: Send, trusted: bool) -> None:
        super().__init__(send)
        self._trusted = trusted
        self._function = b""  # of the last call

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> "Future[T]":
        """Sends a call, soon and together with others.

        The future has the function's value or its exception. It raises `JobError` if no computer
        could run the function.
        """
        inputs = encode(fn, args, kwargs)
        if inputs["function"] == self._function:
            inputs["function"] = self._function  # many calls share one object in memory
        self._function = inputs["function"]
        future: "Future[T]" = Future()
        self._enqueue(inputs, future, lambda result: decode(result, self._trusted))
        return future


def decode(result: Result, trusted: bool) -> Any:
    """Returns the value of a call, or raises its exception."""
    try:
        content = result.read()
        outcome = pickle.loads(content) if trusted else _Harmless(io.BytesIO(content)).load()
        if "value" in outcome:
            return outcome["value"]
        if "refused" in outcome:
            raise FunctionError(f"{outcome['refused']}: use that version here, or ask the project's operator for an image with yours")
        kind, error = outcome["kind"], FunctionError("{kind}: {text}\n\n{traceback}".format(**outcome))
        known = getattr(builtins, kind, None)
        if isinstance(known, type) and issubclass(known, Exception):
            raised = known(*outcome["arguments"])
            raised.__cause__ = error
        else:
            raised = error
    except GridError:
        raise
    except Exception as e:
        raise FunctionError(f"the output of job {result.job} is not the value of a function: {e}") from None
    raise raised


def encode(fn: Callable[..., Any], args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Dict[str, bytes]:
    """Returns the inputs of the job that makes a call."""
    header = json.dumps({"python": "%d.%d" % sys.version_info[:2]}).encode() + b"\n"
    inputs: Dict[str, bytes] = {}
    module, name = getattr(fn, "__module__", None), getattr(fn, "__qualname__", "")
    cloudpickle = _cloudpickle()
    if module and name and _is_of_python(module) and "." not in name:
        function: Any = {"module": module, "name": name}
        arguments = pickle.dumps((args, kwargs), _PROTOCOL)
    elif cloudpickle is None:
        function = {"source": _source(fn), "name": name}
        arguments = pickle.dumps((args, kwargs), _PROTOCOL)
    else:
        with _by_value(cloudpickle, inspect.getmodule(fn)):
            function = {"pickle": cloudpickle.dumps(fn, _PROTOCOL)}
            arguments = cloudpickle.dumps((args, kwargs), _PROTOCOL)
        inputs["cloudpickle.zip"] = _zipped(cloudpickle)
    return {**inputs, "function": pickle.dumps(function, _PROTOCOL), "in": header + arguments}


def has_cloudpickle() -> bool:
    """Reports whether functions can be sent with cloudpickle."""
    return _cloudpickle() is not None


def _is_of_python(module: str) -> bool:
    """Reports whether a module is part of every Python."""
    if module in sys.builtin_module_names:
        return True
    if module.startswith("_") or module == "__main__":
        return False
    path = getattr(importlib.import_module(module), "__file__", None) or ""
    return Path(path).is_relative_to(Path(inspect.__file__).parent) and "site-packages" not in path


def _cloudpickle() -> Optional[ModuleType]:
    try:
        return importlib.import_module("cloudpickle")
    except ImportError:
        return None


@contextlib.contextmanager
def _by_value(cloudpickle: ModuleType, module: Optional[ModuleType]) -> Iterator[None]:
    """Has objects of a module pickled with their code, unless the module is an installed one."""
    sent = (
        module is not None
        and module.__name__ != "__main__"
        and not _is_of_python(module.__name__)
        and "-packages" not in str(getattr(module, "__file__", ""))  # site-packages, or Debian's dist-packages
        and module.__name__ not in cloudpickle.list_registry_pickle_by_value()
    )
    if sent:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        if sent:
            cloudpickle.unregister_pickle_by_value(module)


@functools.lru_cache
def _zipped(package: ModuleType) -> bytes:
    """Returns the source of a package as a ZIP archive, from which Python imports it."""
    folder = Path(str(package.__file__)).parent
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as z:
        for path in sorted(folder.glob("*.py")):
            z.writestr(f"{folder.name}/{path.name}", path.read_bytes())
    return archive.getvalue()


def _source(fn: Callable[..., Any]) -> str:
    """Returns the source text of a function that needs nothing but its arguments."""
    advice = "install cloudpickle to send it"
    if not inspect.isfunction(fn) or fn.__name__ == "<lambda>":
        raise TypeError(f"{fn!r} is not a function that def made: {advice}")
    used = inspect.getclosurevars(fn)
    needed = [*used.nonlocals, *used.globals]
    if needed:
        raise TypeError(
            f"{fn.__name__} uses {', '.join(sorted(needed))} from outside its body: import modules in its body "
            f"and pass values as arguments, or {advice}"
        )
    try:
        return textwrap.dedent(inspect.getsource(fn))
    except OSError:
        raise TypeError(f"the source text of {fn.__name__} is not known: {advice}") from None


class _Harmless(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if name in _HARMLESS.get(module, ()):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(
            f"it contains a {module}.{name}, which may run code on your computer. Let the function return "
            "numbers, text, lists, dictionaries or arrays, or use trusted=True if all computers are yours"
        )
