#!/usr/bin/env python3
"""Runs the scripts of a BOINC project's script_validator, unchanged, as a validator of Starling:

  starling-server app add DIR APP --validator \\
    'exec:bin/validate.py --init_script "check.py files" --compare_script "compare.py files files2"'

The options are those of BOINC's script_validator: a script in the project's bin/, then what it is
told: files, result_id, runtime; of the second result files2, result_id2, runtime2. Without any, a
script is told the files. A script's exit status: 0 is good, or equal; 3 means that the question
is to be asked again later; any other is bad, or different.
"""

import argparse
import json
import os
import subprocess
import sys

AGAIN = 3  # BOINC's VAL_RESULT_TRANSIENT_ERROR


def words(result, suffix=""):
    """What scripts can be told of a result, by the names of these things."""
    return {
        "files" + suffix: [f["path"] for f in result["files"]],
        "result_id" + suffix: [str(result["id"])],
        "runtime" + suffix: ["%f" % result["elapsed_time"]],
    }


def run(script, told):
    """Runs a script and reports whether it exits with 0."""
    command = [os.path.join("..", "bin", script[0])]
    for name in script[1:]:
        command += told.get(name, [])
    # As seen from the directory of BOINC's daemons, scripts are in ../bin.
    status = subprocess.run(command, cwd="bin", stdin=subprocess.DEVNULL, stdout=sys.stderr).returncode
    if status == AGAIN or status < 0:
        sys.exit("%s: ended with %d: this is tried again later" % (" ".join(command), status))
    return status == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--init_script", type=str.split)
    parser.add_argument("--compare_script", type=str.split)
    args = parser.parse_args()
    init, compare = args.init_script, args.compare_script
    if not init and not compare:
        parser.error("want --init_script or --compare_script")
    if init and len(init) == 1:
        init.append("files")
    if compare and len(compare) == 1:
        compare += ["files", "files2"]

    question = json.load(sys.stdin)
    canonical = question["canonical"]
    verdicts, good = {}, []
    for result in question["results"]:
        if not init or run(init, words(result)):
            good.append(result)
        else:
            verdicts[result["name"]] = "error"

    def equal(a, b):
        return not compare or a is b or run(compare, {**words(a), **words(b, "2")})

    answer = {"results": verdicts}
    if canonical:
        for result in good:
            verdicts[result["name"]] = "valid" if equal(result, canonical) else "invalid"
    else:
        for result in good:
            verdicts[result["name"]] = "inconclusive"
        quorum = question["workunit"]["min_quorum"]
        for candidate in good if len(good) >= quorum else []:
            same = [result["name"] for result in good if equal(candidate, result)]
            if len(same) >= quorum // 2 + 1:
                answer["canonical"] = candidate["name"]
                for result in good:
                    verdicts[result["name"]] = "valid" if result["name"] in same else "invalid"
                break
    json.dump(answer, sys.stdout)


main()
