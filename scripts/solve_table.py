#!/usr/bin/env python3
"""solve_table.py SEIDEL MATRIX... [-- OPTION...]   a table of solves whose answer is known here, but not to the program

Each square real matrix (.mtx, .mtx.gz) is solved by `SEIDEL solve` with b = A x, where x is random and b is correctly
rounded. Written as Markdown: method, iterations, residual, the estimated and the true error, max |x_i - x*_i| / max |x*_i|.
"""
import gzip
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time


def read_lines(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        banner = file.readline().lower().split()
        return banner, [line for line in file if line.strip() and line[0] != "%"]


def entries(path):
    """n and the entries (i, j, value) of a square real matrix, or None."""
    banner, lines = read_lines(path)
    layout, field, symmetry = banner[2:5]
    rows, columns = (int(word) for word in lines[0].split()[:2])
    if rows != columns or field == "complex":
        return None
    if layout == "array":
        places = [(i, j) for j in range(columns) for i in range(rows) if symmetry == "general" or i >= j]
        listed = [(i, j, float(line)) for (i, j), line in zip(places, lines[1:])]
    else:
        words = (line.split() for line in lines[1:])
        listed = [(int(w[0]) - 1, int(w[1]) - 1, float(w[2]) if len(w) > 2 else 1.0) for w in words]
    if symmetry != "general":
        sign = -1.0 if symmetry == "skew-symmetric" else 1.0
        listed += [(j, i, sign * value) for i, j, value in listed if i != j]
    return rows, listed


def exact_product(a, b):
    """a b as a sum of two doubles (Dekker 1971)."""
    def halves(v):
        big = 134217729.0 * v
        high = big - (big - v)
        return high, v - high
    product = a * b
    (a1, a2), (b1, b2) = halves(a), halves(b)
    return product, a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2)


def vector(path):
    return [float(line) for line in read_lines(path)[1][1:]]


def write_vector(path, values):
    with open(path, "w") as file:
        file.write(f"%%MatrixMarket matrix array real general\n{len(values)} 1\n")
        file.writelines(f"{value!r}\n" for value in values)


def known_system(matrix, folder):
    """The name of a matrix, a random x, and the file in which b = A x is; None if the matrix is not square and real."""
    name = os.path.basename(matrix).split(".")[0]
    found = entries(matrix)
    if found is None:
        return None
    n, listed = found
    generator = random.Random(name)
    x = [generator.gauss(0, 1) for _ in range(n)]
    terms = [[] for _ in range(n)]
    for i, j, value in listed:
        terms[i].extend(exact_product(value, x[j]))
    b = os.path.join(folder, "b.mtx")
    write_vector(b, [math.fsum(row) for row in terms])
    return name, x, b


def largest_error(path, x):
    """Of the vector in a file, beside the largest entry of x."""
    return max(abs(u - v) for u, v in zip(vector(path), x)) / max(abs(v) for v in x)


def words_of(arguments):
    """The program, the matrices, and the options behind --."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return arguments[0], arguments[1:end], arguments[end + 1:]


def solve(program, matrix, options, folder):
    """One row of the table."""
    known = known_system(matrix, folder)
    if known is None:
        return None
    name, x, b = known
    n = len(x)
    out, report = os.path.join(folder, "x.mtx"), os.path.join(folder, "report.json")
    command = [program, "solve", matrix, "--rhs", b, "--out", out, "--json", report, "--quiet", *options]
    began = time.time()
    code = subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode
    seconds = time.time() - began
    if code > 1:
        return {"name": name, "n": n, "exit": code, "seconds": seconds}
    with open(report) as file:
        told = json.load(file)
    return {**told, "name": name, "n": n, "exit": code, "seconds": seconds, "error": largest_error(out, x)}


def number(value):
    return "" if value is None else f"{value:.1e}"


def main(arguments):
    program, matrices, options = words_of(arguments)
    rows = []
    print("| matrix | rows | verdict | method | iterations | residual | estimated error | true error | seconds |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for matrix in matrices:
            row = solve(program, matrix, options, folder)
            if row is None:
                continue
            rows.append(row)
            method = row.get("method", "")
            if row.get("preconditioner", "none") != "none":
                method += ", " + row["preconditioner"]
            print(f"| {row['name']} | {row['n']} | {row.get('verdict', 'exit ' + str(row['exit']))} | {method} | "
                  f"{row.get('iterations', '')} | {number(row.get('relative_residual'))} | "
                  f"{number(row.get('error_estimate'))} | {number(row.get('error'))} | {row['seconds']:.2f} |", flush=True)
    solved = [row for row in rows if row["exit"] == 0]
    known = [row for row in solved if row["error_estimate"] is not None]
    tiny = 2.0**-52
    near = [row for row in known if 0.1 <= max(row["error_estimate"], tiny) / max(row["error"], tiny) <= 10]
    false = [row for row in known if row["error_estimate"] < 1e-2 and row["error"] > 1e-1]
    silent = [row for row in solved if row["error"] > 1e-2 and row["verdict"] == "solved"]
    print(f"\n{len(rows)} systems, {len(solved)} with exit code 0; {len(known)} errors estimated, {len(near)} of them within "
          f"a factor 10; {len(false)} estimates below 1 % where the truth is above 10 %; {len(silent)} errors above 1 % "
          "without a warning.")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1:])
