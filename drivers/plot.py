#!/usr/bin/env python3
"""Draws what `seidel bench` and `seidel solve` measured.

    seidel bench spmv poisson3d:64 hpcg:32 rmat:14 --csv bench.csv
    seidel bench machine --json machine.json
    seidel solve poisson3d:64 --json solve.json
    drivers/plot.py bench.csv --machine machine.json --residuals solve.json -o pictures

Each picture is drawn if the data for it is there; the names of the files written are printed.
"""
import argparse
import csv
import json
import math
import statistics
import sys
from collections import defaultdict
from pathlib import Path

try:
    import matplotlib
except ImportError:
    sys.exit("plot.py: matplotlib is missing\n  install it: apt-get install python3-matplotlib, or pip install matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import EngFormatter, FuncFormatter, LogLocator, NullFormatter  # noqa: E402

# Okabe and Ito's palette: told apart by colour-blind readers and in grey.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#B8A800"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X", "*"]
NUMBERS = ["nrows", "ncols", "nnz", "row_mean", "row_variance", "row_max", "padding_indicator", "threads", "k", "seconds",
           "gflop_per_s", "gb_per_s", "share_of_copy", "share_of_roof"]

plt.rcParams.update({"figure.figsize": (8, 5), "figure.dpi": 130, "font.size": 10, "axes.grid": True, "axes.axisbelow": True, "grid.alpha": 0.3,
                     "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False, "figure.constrained_layout.use": True})


def read_rows(path):
    """The rows of a bench CSV that hold a time, numbers as numbers."""
    with open(path, newline="") as file:
        rows = [row for row in csv.DictReader(file) if row.get("seconds")]
    for row in rows:
        for name in NUMBERS:
            row[name] = float(row[name]) if row.get(name) else math.nan
        if row.get("order"):
            row["matrix"] += f" ({row['order']})"
    if not rows:
        sys.exit(f"plot.py: {path}: no timed trial in it: run seidel bench with --trials above 0")
    return rows


def grouped(rows, *names):
    groups = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in names)].append(row)
    return groups


def speed_of(rows):
    """Column and label of speed: GFLOP/s, or GB/s for a kernel without arithmetic."""
    return ("gflop_per_s", "GFLOP/s (2 nnz k)") if any(row["gflop_per_s"] > 0 for row in rows) else ("gb_per_s", "GB/s of the compulsory bytes")


def median(rows, name):
    return statistics.median(row[name] for row in rows)


def style(index):
    return {"color": COLOURS[index % len(COLOURS)], "marker": MARKERS[(index + index // len(COLOURS)) % len(MARKERS)], "markersize": 5}


def short(name, threads=1):
    """A rival's name without the kernel, which titles name."""
    return name.split(".", 1)[1] + (f", {threads:.0f} threads" if threads > 1 else "")


def of_columns(kernel, k, layout):
    return f", k = {k:.0f}, {layout}" if kernel == "spmm" else ""


def logarithmic(axis, least, most, formatter=None):
    """A logarithmic axis with plain numbers on it, also where it spans less than a power of ten."""
    (axis.axes.set_xscale if axis.axis_name == "x" else axis.axes.set_yscale)("log")
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if most < 1000 * least else (1,)))
    axis.set_major_formatter(formatter or FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def beside(axes):
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))


def save(figure, folder, name):
    path = folder / f"{name}.png"
    figure.savefig(path)
    plt.close(figure)
    print(path)


def roofs(machine, rows, processor):
    """(bandwidth in GB/s, its name, peak in GFLOP/s or None) of one kind of processor; of the run's most threads without a machine file."""
    ceilings = {c["name"]: c["value"] for c in (machine or {}).get(processor, [])}
    streams = [name for name in ("copy", "triad") if name in ceilings]
    if streams:
        name = max(streams, key=ceilings.get)
        return ceilings[name], name, ceilings.get("fma fp64")
    shares = [row["gb_per_s"] / row["share_of_roof"] for row in rows if row["share_of_roof"] > 0]
    return (max(shares), "copy or triad", None) if shares else (None, None, None)


def draw_roofline(rows, kernel, machine, folder):
    if speed_of(rows)[0] != "gflop_per_s":
        return  # no flops, no place on it
    for processor, mine in (("host", [r for r in rows if r["backend"] != "cuda"]), ("device", [r for r in rows if r["backend"] == "cuda"])):
        bandwidth, stream, peak = roofs(machine, mine, processor)
        if not mine or bandwidth is None:
            continue
        figure, axes = plt.subplots()
        points = []
        for index, ((rival,), of_rival) in enumerate(sorted(grouped(mine, "rival").items())):
            xs, ys = [], []
            for (_, k, threads), trials in sorted(grouped(of_rival, "matrix", "k", "threads").items()):
                if threads != max(r["threads"] for r in of_rival):
                    continue
                xs.append(median(trials, "gflop_per_s") / median(trials, "gb_per_s"))
                ys.append(median(trials, "gflop_per_s"))
                points.append((xs[-1], ys[-1], k))
            axes.plot(xs, ys, linestyle="none", alpha=0.85, label=short(rival), **style(index))
        low, high = min(p[0] for p in points) / 1.5, max(p[0] for p in points) * 1.5
        xs = [low * (high / low) ** (i / 200) for i in range(201)]
        axes.plot(xs, [min(bandwidth * x, peak or math.inf) for x in xs], color="#444444", linewidth=1.5,
                  label=f"{stream} {bandwidth:.0f} GB/s" + (f", FMA {peak:.0f} GFLOP/s" if peak else ""))
        for place, k in enumerate(sorted({p[2] for p in points}) if kernel == "spmm" else []):  # on the axis, in steps, clear of the points
            x = statistics.median(p[0] for p in points if p[2] == k)
            axes.annotate(f"k = {k:.0f}", (x, 0.01 + 0.04 * (place % 3)), xycoords=("data", "axes fraction"), ha="center", fontsize=8)
        slowest, roof = min(p[1] for p in points), min(bandwidth * high, peak or math.inf)
        logarithmic(axes.xaxis, low, high), logarithmic(axes.yaxis, slowest, roof)
        axes.set(ylim=(slowest / 3, 1.5 * max(roof, max(p[1] for p in points))))
        axes.set(xlabel="flops per compulsory byte", ylabel="GFLOP/s (2 nnz k)", title=f"Roofline of {kernel}, {processor}")
        beside(axes)
        save(figure, folder, f"{kernel}-roofline-{processor}")


def draw_against_properties(rows, kernel, folder):
    speed, speed_label = speed_of(rows)
    most_threads = {rival: max(r["threads"] for r in group) for (rival,), group in grouped(rows, "rival").items()}
    ours = [r for r in rows if r["threads"] == most_threads[r["rival"]]]
    for column, label, log in (("nnz", "nonzeros", True), ("row_variance", "variance of nonzeros per row", False), ("padding_indicator", "padding indicator (mean / longest row)", False)):
        if len({r[column] for r in ours}) < 2:
            continue
        figure, axes = plt.subplots()
        speeds = []
        for index, ((form, backend), group) in enumerate(sorted(grouped(ours, "format", "backend").items())):
            # The best rival of the format, at each value of the property.
            points = sorted((value, max(median(t, speed) for t in grouped(trials, "matrix", "rival", "k", "layout").values()))
                            for (value,), trials in grouped(group, column).items())
            axes.plot([p[0] for p in points], [p[1] for p in points], linewidth=1, label=f"{form}, {backend}", **style(index))
            speeds += [p[1] for p in points]
        values = [r[column] for r in ours]
        if log and max(values) > 3 * min(values):
            logarithmic(axes.xaxis, min(values), max(values), EngFormatter(sep=" "))
        elif column == "row_variance":
            axes.set_xscale("symlog", linthresh=1)
        logarithmic(axes.yaxis, min(speeds), max(speeds))
        axes.set(xlabel=label, ylabel=speed_label, title=f"{kernel} against {label.split(' (')[0]}, the fastest rival of each format")
        beside(axes)
        save(figure, folder, f"{kernel}-against-{column.replace('_', '-')}")


def draw_as_boxes(boxes, names, margin, xlabel, title):
    """A box per name, the first at the top; returns the figure and its axes."""
    # The old word goes in Matplotlib 3.13; the new one came in 3.10.
    lying = {"orientation": "horizontal"} if matplotlib.__version_info__ >= (3, 10) else {"vert": False}
    figure, axes = plt.subplots(figsize=(8, margin + 0.32 * len(names)))
    axes.boxplot(boxes, **lying, widths=0.6, medianprops={"color": COLOURS[1]}, flierprops={"markersize": 3})
    axes.set_yticks(range(1, len(names) + 1), names, fontsize=8)
    axes.invert_yaxis()
    values = [value for box in boxes for value in box]
    logarithmic(axes.xaxis, min(values), max(values))
    axes.set(xlabel=xlabel, title=title)
    return figure, axes


def draw_boxes(rows, kernel, folder):
    for (matrix,), group in grouped(rows, "matrix").items():
        names, boxes = [], []
        for (rival, threads, k, layout), trials in sorted(grouped(group, "rival", "threads", "k", "layout").items()):
            names.append(short(rival, threads) + of_columns(kernel, k, layout))
            boxes.append([1e3 * t["seconds"] for t in trials])
        figure, _ = draw_as_boxes(boxes, names, 1.2, "ms (median, quartiles, trials outside)", f"{kernel} of {matrix}")
        save(figure, folder, f"{kernel}-box-{''.join(c if c.isalnum() else '-' for c in Path(matrix).name)}")


def draw_scaling(rows, kernel, folder):
    rows = [r for r in rows if is_ours(r["rival"]) and r["layout"] == rows[0]["layout"]]
    serial = {(m, k, f): median(t, "seconds") for (m, k, f, b), t in grouped(rows, "matrix", "k", "format", "backend").items() if b == "serial"}
    threaded = [r for r in rows if r["backend"] == "openmp"]
    if not serial or len({r["threads"] for r in threaded}) < 2:
        return
    figure, axes = plt.subplots()
    most = 1
    for index, ((matrix, form, k), group) in enumerate(sorted(grouped(threaded, "matrix", "format", "k").items())):
        if (matrix, k, form) not in serial:
            continue
        best = defaultdict(lambda: math.inf)
        for (threads, _), trials in grouped(group, "threads", "rival").items():
            best[threads] = min(best[threads], median(trials, "seconds"))
        points = sorted((threads, serial[matrix, k, form] / seconds) for threads, seconds in best.items())
        most = max(most, points[-1][0])
        axes.plot([p[0] for p in points], [p[1] for p in points], linewidth=1, label=f"{matrix}, {form}" + (f", k = {k:.0f}" if k > 1 else ""), **style(index))
    axes.plot([1, most], [1, most], color="#444444", linestyle="--", linewidth=1, label="ideal")
    axes.set_xticks(sorted({r["threads"] for r in threaded}))
    axes.set(xlabel="threads", ylabel="times faster than serial", title=f"Scaling of {kernel}")
    beside(axes)
    save(figure, folder, f"{kernel}-scaling")


def is_ours(rival):
    return not any(word in rival for word in (".eigen", ".blas", ".std", ".textbook", ".cusparse", ".cub"))


def speedups(rows):
    """Of each of ours in each place: how many times faster it is than the fastest baseline on the same kind of processor with no more threads."""
    for (matrix, k, layout), group in grouped(rows, "matrix", "k", "layout").items():
        times = {key: median(t, "seconds") for key, t in grouped(group, "rival", "backend", "threads").items()}
        for (rival, backend, threads), seconds in times.items():
            baselines = [s for (r, b, t), s in times.items() if not is_ours(r) and t <= threads and (b == "cuda") == (backend == "cuda")]
            if is_ours(rival) and baselines:
                yield matrix, k, layout, rival, backend, threads, min(baselines) / seconds


def draw_speedups(rows, kernel, folder):
    """Ours against the fastest baseline; of many, the fastest in each place."""
    bars = []
    for matrix, k, layout, rival, backend, threads, ratio in speedups(rows):
        task = f"{matrix}" + (f", k = {k:.0f}" + (", col" if layout == "col" else "") if kernel == "spmm" else "")
        bars.append((f"{task}: {short(rival, threads)}", ratio, (task, backend, threads)))
    if len(bars) > 30:
        bars = [bar for bar in bars if bar[1] == max(b[1] for b in bars if b[2] == bar[2])]
    if not bars:
        return
    figure, axes = plt.subplots(figsize=(8, 1.4 + 0.26 * len(bars)))
    axes.set_yticks(range(len(bars)), [b[0] for b in bars])
    axes.barh(range(len(bars)), [b[1] for b in bars], color=[COLOURS[0] if b[1] >= 1 else COLOURS[1] for b in bars])
    for place, (_, ratio, _) in enumerate(bars):
        axes.annotate(f"{ratio:.2f}x", (ratio, place), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8,
                      bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5})
    axes.axvline(1, color="#444444", linewidth=1)
    axes.set(ylim=(len(bars) - 0.4, -0.6), xlim=(0, 1.12 * max(b[1] for b in bars)))
    axes.tick_params(axis="y", labelsize=8)
    axes.set(xlabel="times faster than the fastest baseline", title=f"{kernel} against others' code")
    save(figure, folder, f"{kernel}-speedup")


def draw_gains(rows, kernel, folder):
    """The speed-ups of ours over the fastest baseline, as a box over all matrices."""
    gains = defaultdict(list)
    for _, k, layout, rival, _, threads, ratio in speedups(rows):
        gains[short(rival, threads) + of_columns(kernel, k, layout)].append(ratio)
    gains = {name: values for name, values in gains.items() if len(values) > 2}
    if not gains:
        return
    figure, axes = draw_as_boxes(list(gains.values()), [f"{name} ({len(values)})" for name, values in gains.items()], 1.4,
                                 "times faster than the fastest baseline (number of matrices)", f"{kernel} over all matrices")
    axes.axvline(1, color="#444444", linewidth=1)
    save(figure, folder, f"{kernel}-gains")


def draw_correlations(rows, kernel, folder):
    columns = [speed_of(rows)[0], "nnz", "nrows", "row_mean", "row_variance", "row_max", "padding_indicator", "k", "threads"]
    if len({r["matrix"] for r in rows}) < 3:
        return
    columns = [c for c in columns if len({r[c] for r in rows}) > 1]
    data = {c: [r[c] for r in rows] for c in columns}
    values = [[statistics.correlation(data[a], data[b]) for b in columns] for a in columns]
    figure, axes = plt.subplots(figsize=(7, 6))
    picture = axes.imshow(values, cmap="RdBu_r", vmin=-1, vmax=1)
    axes.grid(False)
    names = [{"gflop_per_s": "GFLOP/s", "gb_per_s": "GB/s"}.get(c, c.replace("_", " ")) for c in columns]
    axes.set_xticks(range(len(columns)), names, rotation=45, ha="right")
    axes.set_yticks(range(len(columns)), names)
    for i, line in enumerate(values):
        for j, value in enumerate(line):
            axes.text(j, i, f"{value:.2f}".replace("-0.00", "0.00"), ha="center", va="center", fontsize=8, color="white" if abs(value) > 0.6 else "black")
    figure.colorbar(picture, label="correlation (Pearson)")
    axes.set_title(f"What goes with the speed of {kernel}")
    save(figure, folder, f"{kernel}-correlation")


def draw_residuals(paths, folder):
    figure, axes = plt.subplots()
    for index, path in enumerate(paths):
        solve = json.loads(Path(path).read_text())
        if "history" not in solve:
            sys.exit(f"plot.py: {path}: found no \"history\", expected the file of seidel solve --json")
        look = style(index)
        history = [max(value, 1e-300) for value in solve["history"]]
        label = f"{solve.get('matrix', {}).get('name', Path(path).stem)}: {solve['method']}, {solve['preconditioner']}"
        axes.plot(range(len(history)), history, linewidth=1.2, color=look["color"], label=label)
        axes.plot(len(history) - 1, solve["relative_residual"], linestyle="none", **look)
    axes.set(yscale="log", xlabel="iteration", ylabel="||b - Ax|| / ||b||", title="Residual curves; the mark is the true residual")
    axes.legend(fontsize=8)
    save(figure, folder, "residuals")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("csv", nargs="*", help="files of seidel bench --csv")
    parser.add_argument("--machine", help="file of seidel bench machine --json: the roofs")
    parser.add_argument("--residuals", nargs="+", default=[], metavar="JSON", help="files of seidel solve --json")
    parser.add_argument("-o", "--output", default="pictures", type=Path, help="folder for the pictures (made if missing)")
    options = parser.parse_args()
    if not options.csv and not options.residuals:
        parser.error("nothing to draw: name a CSV of seidel bench, or --residuals")
    options.output.mkdir(parents=True, exist_ok=True)
    rows = [row for path in options.csv for row in read_rows(path)]
    machine = json.loads(Path(options.machine).read_text()) if options.machine else None
    for (kernel,), of_kernel in sorted(grouped(rows, "kernel").items()):
        draw_roofline(of_kernel, kernel, machine, options.output)
        for draw in (draw_against_properties, draw_boxes, draw_scaling, draw_speedups, draw_gains, draw_correlations):
            draw(of_kernel, kernel, options.output)
    if options.residuals:
        draw_residuals(options.residuals, options.output)


if __name__ == "__main__":
    try:
        main()
    except OSError as problem:
        sys.exit(f"plot.py: {problem.filename}: {problem.strerror}")
