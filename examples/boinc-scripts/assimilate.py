#!/usr/bin/env python3
"""Runs the script of a BOINC project's script_assimilator, unchanged, as an assimilator of Starling:

  starling-server app add DIR APP --assimilator 'exec:bin/assimilate.py --script "store.py wu_name files"'

The option is that of BOINC's script_assimilator: a script in the project's bin/, then what it is
told: files, files2 (each path followed by the file's logical name), wu_id, wu_name, result_id,
runtime, batch_id. Without any, it is told wu_id and files. For a workunit that was given up it is
run as: SCRIPT --error MASK WU_NAME WU_ID BATCH_ID. If it fails, it is run again later.
"""

import argparse
import json
import os
import subprocess
import sys

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--script", type=str.split, required=True)
script = parser.parse_args().script
if len(script) == 1:
    script += ["wu_id", "files"]

outcome = json.load(sys.stdin)
wu, result = outcome["workunit"], outcome["canonical"]
command = [os.path.join("..", "bin", script[0])]
if result:
    told = {
        "files": [f["path"] for f in result["files"]],
        "files2": [text for f in result["files"] for text in (f["path"], f["name"])],
        "wu_id": [str(wu["id"])],
        "wu_name": [wu["name"]],
        "result_id": [str(result["id"])],
        "runtime": ["%f" % result["elapsed_time"]],
        "batch_id": [str(wu["batch"])],
    }
    for name in script[1:]:
        command += told.get(name, [])
else:
    command += ["--error", str(wu["error_mask"]), wu["name"], str(wu["id"]), str(wu["batch"])]
# As seen from the directory of BOINC's daemons, scripts are in ../bin.
status = subprocess.run(command, cwd="bin", stdin=subprocess.DEVNULL).returncode
if status != 0:
    sys.exit("%s: ended with %d" % (" ".join(command), status))
