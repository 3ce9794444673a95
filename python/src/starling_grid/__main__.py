"""Prints the program of an application that runs Python functions, see docs/python.md."""

import sys
from importlib import resources

if __name__ == "__main__":
    sys.stdout.write((resources.files("starling_grid") / "runner.py").read_text())
