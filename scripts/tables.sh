#!/bin/sh
# Makes the tables that docs/ shows, all by one command, on an idle machine:
#   scripts/tables.sh [--gpu] [--threads N] [--quick] [FOLDER]
# Leaves text, JSON, CSV, pages and pictures in FOLDER (tables-cpu or tables-gpu). --quick: tiny matrices, to try the script.
# SEIDEL names the program (build/cpu/seidel, with --gpu build/cuda/seidel).
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
gpu=false quick=false threads=2 folder=
while [ $# -gt 0 ]; do
  case $1 in
    --gpu) gpu=true ;;
    --quick) quick=true ;;
    --threads) threads=${2:?--threads needs a number}; shift ;;
    -*) echo "$0: unknown option $1; known are --gpu, --threads N, --quick" >&2; exit 2 ;;
    *) folder=$1 ;;
  esac
  shift
done
if $gpu; then kind=gpu preset=cuda where="--backend cuda"; else kind=cpu preset=cpu where="--threads $threads"; fi
folder=${folder:-tables-$kind}
seidel=${SEIDEL:-$root/build/$preset/seidel}
[ -x "$seidel" ] || { echo "$0: $seidel is not there: build it (README.md), or name it in SEIDEL" >&2; exit 5; }
mkdir -p "$folder" || exit 2
status=0

# table NAME COMMAND...: the command's table as NAME.txt under its command line, beside NAME.json.
table() {
  name=$1
  shift
  echo "seidel $*" | tee "$folder/$name.txt"
  "$seidel" "$@" --json "$folder/$name.json" >>"$folder/$name.txt" || { status=1; echo "  ended with an error; see $folder/$name.txt"; }
}
# The same, with a row a trial and a page.
bench() {
  table "$@" --csv "$folder/$1.csv" --html "$folder/$1.html"
}

if $quick; then
  orders="poisson3d:8 hpcg:6" sweeps="poisson3d:8" solves="poisson3d:8" product="poisson3d:8"
elif $gpu; then
  orders="poisson3d:128 hpcg:96 elasticity3d:64" solves="poisson3d:128 elasticity3d:64" product="poisson3d:128"
  sweeps="poisson3d:256 hpcg:192 elasticity3d:96 poisson2d:2048 spd:200000:121"
else
  orders="poisson3d:64 hpcg:48 elasticity3d:20" solves="poisson3d:64 elasticity3d:20" product="poisson3d:128"
  sweeps="poisson3d:128 hpcg:96"
fi

table machine bench machine $where
table validate validate
if ! $quick; then
  if $gpu; then bench suite bench suite --large $where; else bench suite bench suite --small $where; fi
fi
bench spmv bench spmv $product --trials 9 $where
bench symgs bench symgs $sweeps --trials 9 $where
bench symgs-guess bench symgs-guess $sweeps --trials 9 $where
bench orders bench symgs $orders --order natural,colours,blocks $where
bench solve bench solve $solves $where --trials 3
for matrix in $solves; do
  table "residuals-$(echo "$matrix" | tr : -)" solve "$matrix" --precond symgs $where
done
csv=
for file in suite spmv symgs orders; do [ -f "$folder/$file.csv" ] && csv="$csv $folder/$file.csv"; done
python=python3
"$python" -c 'import matplotlib' 2>/dev/null || python=/usr/bin/python3
"$python" "$root/drivers/plot.py" $csv --machine "$folder/machine.json" --residuals "$folder"/residuals-*.json -o "$folder/pictures" ||
  echo "no pictures"
exit $status
