#!/usr/bin/env python3
"""follow_advice.py SEIDEL MATRIX... [-- OPTION...]   where does the advice of `seidel solve` lead?

Solves each square real matrix (.mtx, .mtx.gz) with a b = A x whose x only this script knows, first by `auto` and then with
methods and preconditioners that may not suit it; follows the first command behind `try:` at most three times. Each
way must end in a solved system with an error below 1 %, in a warning, or in exit code 1 without a command that was not
tried before. Exits with 1 if one does not.
"""
import json
import os
import shlex
import subprocess
import sys
import tempfile

from solve_table import known_system, largest_error, words_of

BEGINNINGS = [[], ["--method", "cg"], ["--method", "bicgstab"], ["--method", "gmres"], ["--precond", "none"],
              ["--precond", "ilu0"], ["--method", "cg", "--precond", "none", "--max-iterations", "50"]]
MAX_STEPS = 3


def run(words, folder):
    """Exit code, and the report of the solve."""
    report = os.path.join(folder, "report.json")
    if os.path.exists(report):
        os.remove(report)
    code = subprocess.run([*words, "--json", report, "--quiet"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False).returncode
    if code > 1 or not os.path.exists(report):
        return code, None
    with open(report) as file:
        return code, json.load(file)


def without_report(command):
    words = [word for word in shlex.split(command) if word != "--quiet"]
    if "--json" in words:
        report = words.index("--json")
        del words[report:report + 2]
    return words


def follow(command, folder, out, x):
    """The steps of a way, and whether its end is right."""
    steps = []
    tried = []
    while True:
        tried.append(command)
        code, told = run(command, folder)
        if told is None:
            return [*steps, f"exit {code}"], code in (2, 3) and not steps  # refused at once is no advice
        error = largest_error(out, x)
        steps.append(f"{' '.join(command[4:])}: exit {code}, {told['verdict']}, error {error:.1e}")
        if code == 0:
            return steps, error < 1e-2 or told["verdict"] != "solved"
        advice = next((cause["try"] for cause in told["diagnosis"] if cause["try"]), None)
        if advice is None or without_report(advice) in tried:
            return steps, True
        if len(steps) > MAX_STEPS:
            return steps, False
        command = without_report(advice)


def main(arguments):
    program, matrices, options = words_of(arguments)
    wrong = ways = 0
    with tempfile.TemporaryDirectory() as folder:
        for matrix in matrices:
            known = known_system(matrix, folder)
            if known is None:
                continue
            name, x, b = known
            out = os.path.join(folder, "x.mtx")
            for beginning in BEGINNINGS:
                command = [program, "solve", matrix, "--rhs", b, "--out", out, *beginning, *options]
                steps, right = follow(command, folder, out, x)
                ways += 1
                wrong += not right
                if not right or len(steps) > 1:
                    print(f"{name}: {'' if right else 'WRONG '}" + " -> ".join(steps), flush=True)
    print(f"{ways} ways, {wrong} of them end wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
