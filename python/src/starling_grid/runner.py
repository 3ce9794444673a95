#!/usr/bin/env python3
# The program of an application that runs Python functions: it reads a call from the file in, and
# writes the value or the exception to the file out. It needs nothing but Python, and old versions
# can read it, so that they can refuse a call in words.
import __future__
import importlib
import json
import pickle
import sys
import traceback

PROTOCOL = 5


def function_of(call):
    """Returns the function and its arguments."""
    if "cloudpickle" in call:
        with open("cloudpickle.zip", "wb") as f:
            f.write(call["cloudpickle"])
        sys.path.insert(0, "cloudpickle.zip")
        return pickle.loads(call["call"])
    if "source" in call:
        names = {"__name__": "starling_function"}
        # As annotations are not evaluated, the names of types in them need not be known.
        exec(compile(call["source"], "<function>", "exec", __future__.annotations.compiler_flag), names)
        return (names[call["name"].rpartition(".")[2]],) + pickle.loads(call["arguments"])
    module = importlib.import_module(call["module"])
    return (getattr(module, call["name"]),) + pickle.loads(call["arguments"])


def outcome_of(call):
    """Makes a call, and returns the value or the exception as bytes."""
    try:
        function, args, kwargs = function_of(call)
        return pickle.dumps({"value": function(*args, **kwargs)}, PROTOCOL)
    except Exception as e:
        simple = all(isinstance(a, (str, bytes, int, float, type(None))) for a in e.args)
        error = {
            "kind": type(e).__name__,
            "text": str(e),
            "arguments": e.args if simple else (str(e),),
            "traceback": traceback.format_exc(),
        }
        return pickle.dumps(error, PROTOCOL)


def main():
    with open("in", "rb") as f:
        wanted = json.loads(f.readline().decode())["python"]
        found = "%d.%d" % sys.version_info[:2]
        if found != wanted:
            sys.exit("this computer has Python %s, and the function was sent by Python %s" % (found, wanted))
        call = pickle.load(f)
    outcome = outcome_of(call)
    with open("out", "wb") as f:
        f.write(outcome)


if __name__ == "__main__":
    main()
