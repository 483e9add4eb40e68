#!/usr/bin/env bash
# Runs every GPU test and then every benchmark of a bundle, each with a time
# limit, and prints a compact table last.
#
#   run_gpu.sh [options]
#     --out DIR       logs and results (default: $OUT, else ./out)
#     --only LIST     of: info runtime gpus instructions tuner candidates rows
#                     tests graphs planted memcheck racecheck synccheck traffic
#                     examples minilm compile start peers (default: all but
#                     gpus, candidates, planted, memcheck, racecheck, synccheck,
#                     minilm)
#     --graphs N      random graphs, in all (default 400)
#     --seed N        of the first random graph (default: by the clock)
#     --filter GLOB   tests of the suite `tests` (as --gtest_filter), and cases
#                     of `instructions`
#     --jobs N        test processes side by side (default: CPUs, at most 12)
#     --seconds N     for the benchmarks against torch (default 150)
#     --cases REGEX   of those benchmarks, and of `candidates`, only these
#     --peers-args S  further arguments of bench/peers/run.py
#     --minilm DIR    folder of all-MiniLM-L6-v2, for `minilm`
#
# Results: <out>/*.jsonl, one JSON object per line; <out>/logs/ has the rest.
# Ends with 1 if anything failed, timed out, or had nothing to run on.
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-out} minilm=""
only="info runtime instructions tuner rows tests graphs traffic examples compile start peers"
graphs=400 seed=$(date +%s) filter='*' seconds=150 cases="" extra=()
jobs=$(nproc)
((jobs <= 12)) || jobs=12
while (($#)); do
  case $1 in
  --out) out=${2:?} ;;
  --only) only=${2//,/ } ;;
  --graphs) graphs=${2:?} ;;
  --seed) seed=${2:?} ;;
  --filter) filter=${2:?} ;;
  --jobs) jobs=${2:?} ;;
  --seconds) seconds=${2:?} ;;
  --cases) cases=${2:?} ;;
  --minilm) minilm=${2:?} ;;
  --peers-args) read -r -a extra <<<"$2" ;;
  *) sed -n '2,24s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
  esac
  shift 2
done
mkdir -p "$out/logs"
out=$(cd "$out" && pwd)

export AZULEJO_REQUIRE_GPU=1 AZULEJO_TEST_DEVICE=cuda
export AZULEJO_COMPILER=$here/lib/libazulejo-compiler.so
export AZULEJO_LIBRARY=$here/lib/libazulejo.so
export AZULEJO_WORKER=$here/bin/azulejo-worker
export AZULEJO_CACHE_DIR=$out/cache
AZULEJO_COMMIT=$(cat "$here/commit" 2>/dev/null || echo unknown)
export AZULEJO_COMMIT
if [[ -z ${AZULEJO_PTXAS:-} ]]; then
  for found in "$(command -v ptxas || true)" /usr/local/cuda/bin/ptxas; do
    [[ ! -x $found ]] || { export AZULEJO_PTXAS=$found && break; }
  done
fi
python=$(command -v python3 || command -v python)
steps=$out/steps.jsonl
: >"$steps"

# step <name> <seconds> <command>...: one line here, everything in its log.
step() {
  local name=$1 limit=$2 log=$out/logs/$1.log start status=0
  shift 2
  start=$(date +%s.%N)
  timeout --kill-after=10 "$limit" "$@" >"$log" 2>&1 </dev/null || status=$?
  "$python" - "$name" "$status" "$start" "$steps" <<'PYTHON'
import json, sys, time
name, status, start, path = sys.argv[1:]
status, seconds = int(status), time.time() - float(start)
result = ("ok" if status == 0 else
          "timed out" if status in (124, 137) else f"failed ({status})")
print(f"{name:<12} {result:<12} {seconds:7.1f} s", flush=True)
with open(path, "a") as file:
    file.write(json.dumps({"suite": "steps", "case": name, "result": result,
                           "seconds": round(seconds, 1)}) + "\n")
PYTHON
  [[ $status == 0 ]] || tail -n 4 "$log" | cut -c1-160 | sed 's/^/    /'
}

information() {
  nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.sm,power.draw \
    --format=csv || true
  "$here/bin/azulejo" --version
  "$here/bin/azulejo" doctor || true
  ldd "$here"/bin/azulejo "$AZULEJO_COMPILER"
  ! ldd "$here"/bin/* "$here"/lib/*.so | grep 'not found'
}

# without <patterns>: the filter, which may leave out tests itself, less these.
without() {
  case $filter in
  *-*) echo "$filter:$1" ;;
  *) echo "$filter:-$1" ;;
  esac
}

# Asking the driver for one parameter too many is how kernels' parameters are
# counted, so errors of its calls are no findings.
watched() { # tool
  echo "compute-sanitizer --tool $1 --error-exitcode 9 --print-limit 20" \
    "--report-api-errors no"
}

# Few tests per process: the tools themselves have crashed.
sanitizer() { # tool, seconds, arguments of shards.py
  local tool=$1 within=$2
  shift 2
  "$python" "$here/shards.py" --jobs "$jobs" --out "$out/$tool.jsonl" \
    --within "$within" --silence 600 --prefix "$(watched "$tool")" "$@" \
    "$here/bin/azulejo-test-conformance"
}

# A tool that finds nothing should be one that would have found something. Of
# two kernels that were made for this, one writes an element past the end of its
# tensor, within what the driver set aside, and one reads what another warp may
# not have written yet: nobody but the tool notices.
planted() { # tool, test, what it says
  local status=0 log=$out/logs/planted_$1_tool.log
  # shellcheck disable=SC2046
  $(watched "$1") "$here/bin/gpu_runtime_test" \
    --gtest_filter="Planted.$2" \
    >"$log" 2>&1 || status=$?
  cat "$log"
  if [[ $status == 9 ]] && grep -q "$3" "$log"; then
    return 0
  fi
  echo "$1 did not report what was planted: exit status $status, not 9"
  return 1
}

plant() { # tool
  case $1 in
  memcheck) set -- "$1" OneElementPastTheEnd 'Invalid __global__ write' ;;
  racecheck) set -- "$1" ReadBeforeAnotherWarpWrote 'Race reported' ;;
  esac
  step "planted_$1" 60 bash -c 'planted "$@"' planted "$@"
}

# What a tool slows down most is left to a plain run before it: the first one
# compiles every plan into the cache, the second says how long each test takes
# when nothing is compiled. Both have to pass.
warm() { # filter
  rm -f "$out/times.json"
  for round in compiling running; do
    "$python" "$here/shards.py" --jobs "$jobs" --filter "$1" \
      --times "$out/times.json" --out "$out/warm_$round.jsonl" \
      "$here/bin/azulejo-test-conformance" || return 1
  done
}

check_with() { # tool, seconds, tests of a portion, filter
  export tool=$1 within=$2 portion=$3 checked=$4
  export AZULEJO_TEST_CACHE=1 AZULEJO_TEST_SIZES=2
  step "${tool}_warm" 300 bash -c 'warm "$checked"'
  step "$tool" $((within + 20)) bash -c 'sanitizer "$tool" "$within" \
    --portion "$portion" --times "$out/times.json" --filter "$checked"'
  unset AZULEJO_TEST_CACHE AZULEJO_TEST_SIZES
}

example() { # name, arguments
  "$here/bin/example_$1" --quick --device cuda
}
export -f information watched sanitizer planted warm example
export here seed python out jobs

for part in $only; do
  case $part in
  info) step info 60 bash -c information ;;
  runtime)
    step runtime 120 "$here/bin/gpu_runtime_test"
    grep '^{"suite"' "$out/logs/runtime.log" >"$out/runtime.jsonl" || true
    ;;
  gpus)
    # Two GPUs in one process; and the second one, as the device under test.
    AZULEJO_REQUIRE_GPUS=1 step gpus 60 "$here/bin/gpu_runtime_test" \
      --gtest_filter='SeveralDevices.*'
    AZULEJO_REQUIRE_GPUS=1 AZULEJO_TEST_DEVICE=cuda:1 step second_gpu 120 "$python" \
      "$here/shards.py" --jobs "$jobs" --out "$out/second_gpu.jsonl" \
      --filter 'DeviceRun.*:Families/*:Sizes.*' \
      "$here/bin/azulejo-test-conformance"
    ;;
  instructions)
    # One process each time it hangs or loses the device, which it says soon.
    AZULEJO_INSTRUCTIONS=$here/instructions \
      step instructions 300 "$python" "$here/shards.py" --jobs "$jobs" \
      --silence 20 --filter "Sm90/*$filter" --out "$out/instructions.jsonl" \
      "$here/bin/gpu_instructions_test"
    ;;
  tuner)
    step tuner 300 "$here/bin/gpu_tuner_test" --gtest_filter='GpuTuner.*/Real'
    ;;
  candidates)
    step candidates 300 "$python" "$here/candidates.py" \
      --azulejo "$here/bin/azulejo" --out "$out/candidates.jsonl" \
      --jobs $((jobs < 4 ? 1 : jobs / 4)) --cases "$cases"
    ;;
  rows)
    step rows 180 "$here/bin/azulejo-gpu-launch" "$here/row_chain"
    [[ ! -e $here/row_chain/row_chain.jsonl ]] ||
      mv "$here/row_chain/row_chain.jsonl" "$out/row_chain.jsonl"
    ;;
  tests)
    step tests 420 "$python" "$here/shards.py" --jobs "$jobs" \
      --filter "$(without 'RandomGraph.*')" --out "$out/tests.jsonl" \
      "$here/bin/azulejo-test-conformance"
    ;;
  graphs)
    step graphs $((120 + graphs)) "$python" "$here/shards.py" --jobs "$jobs" \
      --graphs "$graphs" --seed "$seed" --out "$out/graphs.jsonl" \
      "$here/bin/azulejo-test-conformance"
    ;;
  planted)
    plant memcheck
    plant racecheck
    ;;
  memcheck)
    plant memcheck
    # Every test, each graph at two of its sizes.
    check_with memcheck 400 10 "$(without 'RandomGraph.*:GpuCompile*')"
    ;;
  racecheck)
    plant racecheck
    checked="Families/Schedules.*:NormExact.*:DTypes/Pattern.*:Decode.*"
    [[ $filter == '*' ]] || checked=$filter
    check_with racecheck 240 8 "$checked"
    ;;
  synccheck)
    checked="Roles.EveryTile:RoleAttention.EveryTile:RoleAttention.Masks"
    checked+=":*RoleClusters.*:*RoleCounters.*"
    [[ $filter == '*' ]] || checked=$filter
    check_with synccheck 240 8 "$checked"
    ;;
  traffic)
    step traffic 240 "$python" "$here/traffic.py" --out "$out/traffic.jsonl"
    ;;
  minilm)
    for dtype in f32 bf16; do
      step "minilm_$dtype" 120 "$here/bin/example_minilm" --model "$minilm" \
        --dtype "$dtype" --device cuda \
        --expected "$here/minilm/expected.safetensors"
    done
    ;;
  examples)
    for name in fused_attention fused_chain custom_mask; do
      [[ -x $here/bin/example_$name ]] || continue
      step "$name" 60 bash -c "example $name"
    done
    ;;
  compile)
    step compile 120 "$python" "$here/bench/peers/compile_times.py" \
      --repeat 1 --out "$out/compile.jsonl"
    ;;
  start)
    AZULEJO_DEVICE=cuda step start 60 "$here/bin/bench_cached_start" \
      --out "$out/start.jsonl"
    ;;
  peers)
    step peers $((seconds + 60)) "$python" "$here/bench/peers/run.py" \
      --seconds "$seconds" --cases "$cases" --out "$out/peers.jsonl" \
      "${extra[@]}"
    ;;
  *) echo "run_gpu.sh: no part is called $part" >&2 && exit 2 ;;
  esac
done

rm -rf "$out/cache"
"$python" "$here/summary.py" "$out"
