#!/usr/bin/env bash
# Makes the folder to carry to a machine with a GPU: everything that tests and
# measures there, from one build. ./dev bundle calls this.
#
#   tests/gpu/make_bundle.sh <build directory> <new folder>
#
# There: <folder>/run_gpu.sh. What is copied needs nothing of that machine but
# glibc 2.36, libstdc++ 12 and, to do something, a driver; this is checked here.
set -euo pipefail

# The versions of Debian 12: newer symbols would not be found there.
readonly GLIBC=2.36 GLIBCXX=3.4.30 CXXABI=1.3.13
# What may be asked of the other machine.
readonly ALLOWED='linux-vdso|ld-linux-x86-64|libc|libm|libdl|libpthread|librt|libgcc_s|libstdc\+\+|libazulejo'

die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

[[ $# -eq 2 ]] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
[[ ! -e $2 ]] || die "$2 is there already"
mkdir -p "$2/bin" "$2/lib" "$2/row_chain" "$2/instructions" "$2/bench"
folder=$(cd "$2" && pwd)

for library in libazulejo.so libazulejo-compiler.so; do
  [[ -e $build/lib/$library ]] || die "$build has no lib/$library"
  # The name that programs ask for, not the chain of links to it.
  name=$(objdump -p "$build/lib/$library" | awk '$1 == "SONAME" {print $2}')
  cp -L "$build/lib/$library" "$folder/lib/${name:-$library}"
  [[ ${name:-$library} == "$library" ]] || ln -s "$name" "$folder/lib/$library"
done
for program in azulejo azulejo-worker azulejo-test-conformance \
  azulejo-gpu-launch gpu_instructions_test gpu_runtime_test \
  gpu_tuner_test; do
  [[ -x $build/bin/$program ]] || die "$build has no bin/$program"
  cp "$build/bin/$program" "$folder/bin/"
done
for program in "$build"/bin/example_* "$build"/bin/bench_*; do
  [[ ! -x $program ]] || cp "$program" "$folder/bin/"
done
strip --strip-unneeded "$folder"/bin/* "$folder"/lib/*.so*

ptxas=${AZULEJO_PTXAS:-$(command -v ptxas || true)}
if [[ -n $ptxas ]]; then
  "$build/bin/azulejo-gpu-bundle" "$folder/row_chain" "$ptxas" >/dev/null
  "$build/bin/azulejo-gpu-instructions" "$folder/instructions" "$ptxas" \
    >/dev/null
  rm "$folder"/instructions/*.ptx # in the build's folder for those who read it
else
  printf '%s: no ptxas (AZULEJO_PTXAS): no row kernels, no instructions\n' \
    "${0##*/}" >&2
fi

cp -r "$root/bench/peers" "$folder/bench/"
find "$folder/bench/peers" ! -name '*.py' -type f -delete
find "$folder/bench" -name __pycache__ -prune -exec rm -rf {} +
cp "$root"/tests/gpu/{run_gpu.sh,candidates.py,shards.py,summary.py,traffic.py} \
  "$folder/"
mkdir "$folder/minilm"
cp "$root"/examples/minilm/expected/{expected.safetensors,sentences.json} \
  "$folder/minilm/"
cp "$root/LICENSE" "$root/NOTICE" "$folder/"
commit=$(git -C "$root" rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
git -C "$root" diff --quiet HEAD 2>/dev/null || commit+=-dirty
printf '%s\n' "$commit" >"$folder/commit"

# ---- does it ask for anything that the other machine may lack? --------------

newest() { # file, prefix of the versions
  objdump -T "$1" | sed -n "s/.*[( ]$2_\([0-9.]*\).*/\1/p" | sort -V | tail -n 1
}
for file in "$folder"/bin/* "$folder"/lib/*.so*; do
  [[ ! -L $file ]] || continue
  foreign=$(objdump -p "$file" | awk '$1 == "NEEDED" {print $2}' |
    grep -vE "^($ALLOWED)[.-]" || true)
  [[ -z $foreign ]] ||
    die "${file##*/} needs ${foreign//$'\n'/, }"
  for limit in "GLIBC $GLIBC" "GLIBCXX $GLIBCXX" "CXXABI $CXXABI"; do
    read -r prefix most <<<"$limit"
    found=$(newest "$file" "$prefix")
    [[ $(printf '%s\n' "$found" "$most" | sort -V | tail -n 1) == "$most" ]] ||
      die "${file##*/} needs ${prefix}_$found, newer than $most"
  done
  [[ $(objdump -p "$file" | awk '/R(UN)?PATH/ {print $2}') != */* ||
    $(objdump -p "$file" | awk '/R(UN)?PATH/ {print $2}') == \$ORIGIN* ]] ||
    die "${file##*/} looks for libraries outside its folder"
done

# ---- does the copy run? -----------------------------------------------------

AZULEJO_CACHE=off "$folder/bin/azulejo" --version >/dev/null ||
  die "the copy of azulejo does not run"
AZULEJO_COMPILER=$folder/lib/libazulejo-compiler.so AZULEJO_GRAPHS=2 \
  AZULEJO_SEED=1 "$folder/bin/azulejo-test-conformance" \
  --gtest_filter='RandomGraph.*' >/dev/null ||
  die "the copy of the test program fails, or is of another build"
printf '%s: commit %s, %s KiB\n' "$folder" "$commit" \
  "$(du -sk "$folder" | cut -f1)"
