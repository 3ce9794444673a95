#!/usr/bin/env python3
# The program of an application that runs Python functions: it reads a call from the files in and
# function, and writes the value or the exception to the file out. It needs nothing but Python. Old
# versions can read it, so that they can refuse a call with a sentence.
import __future__
import importlib
import json
import pickle
import sys
import traceback

PROTOCOL = 5


def function_of(described):
    """Returns a function."""
    if "pickle" in described:
        return pickle.loads(described["pickle"])
    if "source" in described:
        names = {"__name__": "starling_function"}
        # As annotations are not evaluated, the names of types in them need not be known.
        exec(compile(described["source"], "<function>", "exec", __future__.annotations.compiler_flag), names)
        return names[described["name"].rpartition(".")[2]]
    return getattr(importlib.import_module(described["module"]), described["name"])


def outcome_of(described, arguments):
    """Calls a function with pickled arguments, and returns the value or the exception as bytes."""
    try:
        function = function_of(described)
        args, kwargs = pickle.loads(arguments)
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


def refuse(reason):
    """Returns a reason instead of a value: other computers have the same image, and would refuse the call, too."""
    with open("out", "wb") as f:
        f.write(pickle.dumps({"refused": reason}, 2))


def main():
    with open("in", "rb") as f:
        wanted = json.loads(f.readline().decode())["python"]
        found = "%d.%d" % sys.version_info[:2]
        if found != wanted and sys.argv[1:2] == ["--image"]:
            refuse("the application's image has Python %s, and the function was sent by Python %s" % (found, wanted))
            return
        if found != wanted:
            sys.exit("this computer has Python %s, and the function was sent by Python %s" % (found, wanted))
        arguments = f.read()
    sys.path.insert(0, "cloudpickle.zip")  # an input of functions that need it
    with open("function", "rb") as f:
        described = pickle.load(f)
    outcome = outcome_of(described, arguments)
    with open("out", "wb") as f:
        f.write(outcome)


if __name__ == "__main__":
    main()
