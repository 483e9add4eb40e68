#!/usr/bin/env bash
# Runs every benchmark, keeps the rows, prints a table: bench/run.sh --help
set -euo pipefail

usage() {
  cat <<'HELP'
usage: bench/run.sh [--quick] [--bin DIR] [--out FILE] [options of bench_cpu]

  --quick      fewer sizes and samples; rows go to build/bench-part.jsonl, as
               do those of --only SUITE
  --bin DIR    where the programs bench_* are (default: build/bench/bin, which
               is built when it is missing)
  --out FILE   where the rows go, instead of bench/results/<machine>/cpu.jsonl

Rows replace those of an earlier run, and only when every result was right.
Exits with 1 if one was wrong or a benchmark failed; a missed goal is no
failure. Nothing else should run on the machine meanwhile.
HELP
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
bin=$root/build/bench/bin
out="" part="" options=()
while (($#)); do
  case $1 in
  --help | -h) usage && exit 0 ;;
  --quick | --only) part=1 options+=("$1") ;;
  --bin) bin=${2:?--bin needs a folder} && shift ;;
  --out) out=${2:?--out needs a file} && shift ;;
  *) options+=("$1") ;;
  esac
  shift
done

[[ -x $bin/bench_cpu ]] || "$root/dev" build bench
commit=$(git -C "$root" rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
git -C "$root" diff --quiet HEAD 2>/dev/null || commit+=-dirty

if [[ -z $out ]]; then
  if [[ $part ]]; then
    out=$root/build/bench-part.jsonl
  else
    out=$root/bench/results/$("$bin/bench_cpu" --slug)/cpu.jsonl
  fi
fi
mkdir -p "$(dirname "$out")"
rows=$(mktemp "$out.XXXXXX")
trap 'rm -f "$rows"' EXIT

failed=""
start=$SECONDS
for program in "$bin"/bench_*; do
  printf '\n--- %s\n' "$(basename "$program")"
  "$program" --out "$rows" --commit "$commit" "${options[@]}" || failed=1
done

printf '\n'
python3 "$root/bench/table.py" "$rows"
printf '%d s\n' $((SECONDS - start))
if [[ $failed ]]; then
  printf 'A benchmark failed or gave a wrong result; %s is as it was.\n' "$out"
  exit 1
fi
chmod 644 "$rows"
mv "$rows" "$out"
printf 'rows: %s\n' "$out"
