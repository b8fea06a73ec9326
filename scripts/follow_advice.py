#!/usr/bin/env python3
"""follow_advice.py SEIDEL MATRIX... [-- OPTION...]   where does the advice of `seidel solve` lead?

Solves each square real matrix (.mtx, .mtx.gz) with a b = A x whose x only this script knows, first by `auto` and then with
methods and preconditioners that may not suit it; follows the first command behind `try:` at most three times. Each
way must end in a solved system with an error below 1 %, in a warning, or in exit code 1 without a command that was not
tried before. Exits with 1 if one does not.
"""
import json
import os
import random
import shlex
import subprocess
import sys
import tempfile

from solve_table import entries, exact_product, vector, write_vector
import math

BEGINNINGS = [[], ["--method", "cg"], ["--method", "bicgstab"], ["--method", "gmres"], ["--precond", "none"],
              ["--precond", "ilu0"], ["--method", "cg", "--precond", "none", "--max-iterations", "50"]]
MAX_STEPS = 3


def run(words, folder):
    """Exit code, and the report of the solve."""
    report = os.path.join(folder, "report.json")
    if os.path.exists(report):
        os.remove(report)
    words = [word for word in words if word not in ("--quiet",)]
    code = subprocess.run([*words, "--json", report, "--quiet"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False).returncode
    if code > 1 or not os.path.exists(report):
        return code, None
    with open(report) as file:
        return code, json.load(file)


def without_report(command):
    words = shlex.split(command)
    kept = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word == "--json":
            skip = True
        elif word != "--quiet":
            kept.append(word)
    return kept


def follow(command, folder, out, x):
    """The steps of a way, and whether its end is right."""
    steps = []
    tried = []
    while True:
        tried.append(command)
        code, told = run(command, folder)
        if told is None:
            return [*steps, f"exit {code}"], code in (2, 3) and not steps  # refused at once is no advice
        found = vector(out)
        error = max(abs(u - v) for u, v in zip(found, x)) / max(abs(v) for v in x)
        steps.append(f"{' '.join(command[4:])}: exit {code}, {told['verdict']}, error {error:.1e}")
        if code == 0:
            return steps, error < 1e-2 or told["verdict"] != "solved"
        advice = next((cause["try"] for cause in told["diagnosis"] if cause["try"]), None)
        if advice is None or without_report(advice) in tried:
            return steps, True
        if len(steps) > MAX_STEPS:
            return steps, False
        command = without_report(advice)


def main(words):
    options = words[words.index("--") + 1:] if "--" in words else []
    program, *matrices = words[:words.index("--")] if "--" in words else words
    wrong = ways = 0
    with tempfile.TemporaryDirectory() as folder:
        for matrix in matrices:
            found = entries(matrix)
            if found is None:
                continue
            n, listed = found
            name = os.path.basename(matrix).split(".")[0]
            generator = random.Random(name)
            x = [generator.gauss(0, 1) for _ in range(n)]
            terms = [[] for _ in range(n)]
            for i, j, value in listed:
                terms[i].extend(exact_product(value, x[j]))
            b, out = os.path.join(folder, "b.mtx"), os.path.join(folder, "x.mtx")
            write_vector(b, [math.fsum(row) for row in terms])
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
