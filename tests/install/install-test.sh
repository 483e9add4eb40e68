#!/bin/sh
# Installs the runtime component to a fresh prefix, moves the prefix, and builds
# and runs two consumers there: by find_package, and by pkg-config alone. Also
# compiles every installed header on its own, and checks what is exported. Then,
# where there is a compiler, installs it beside, and builds and runs the examples
# as a project of their own, as somebody who copied them would.
#   install-test.sh BUILD_DIR CMAKE CC CXX HAS_COMPILER [MINILM_MODEL]
set -eu
build=$1 cmake=$2 cc=$3 cxx=$4 compiler=$5 model=${6:-}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$cmake" --install "$build" --component runtime --prefix "$work/first" >/dev/null
mv "$work/first" "$work/prefix"
prefix=$work/prefix

# Ninja, as ./dev: a machine need not have make.
"$cmake" -G Ninja -S "$here/consumer" -B "$work/build" \
  -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" >/dev/null
"$cmake" --build "$work/build" >/dev/null
[ "$("$work/build/consumer_cpp")" = ok ]
[ "$("$work/build/consumer_c")" = ok ]
echo "find_package: ok"

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name azulejo.pc)")
export PKG_CONFIG_PATH
libdir=$(pkg-config --variable=libdir azulejo)
"$cxx" -std=c++20 "$here/consumer/consumer.cpp" -o "$work/pc_cpp" \
  $(pkg-config --cflags --libs azulejo) -Wl,-rpath,"$libdir"
"$cc" -std=c99 -pedantic -Werror "$here/consumer/consumer.c" -o "$work/pc_c" \
  $(pkg-config --cflags --libs azulejo) -Wl,-rpath,"$libdir"
[ "$("$work/pc_cpp")" = ok ]
[ "$("$work/pc_c")" = ok ]
echo "pkg-config: ok"

for header in "$prefix"/include/azulejo/*.h; do
  echo "#include <azulejo/$(basename "$header")>" >"$work/one.cpp"
  "$cxx" -std=c++20 -Wall -Wextra -Werror -fsyntax-only \
    -I"$prefix/include" "$work/one.cpp"
done
for header in "$prefix"/include/azulejo/c/*.h; do
  echo "#include <azulejo/c/$(basename "$header")>" >"$work/one.c"
  "$cc" -std=c99 -Wall -Wextra -pedantic -Werror -fsyntax-only \
    -I"$prefix/include" "$work/one.c"
done
echo "headers: ok"

others=$(nm -D --defined-only "$libdir/libazulejo.so" |
  awk '$3 !~ /^az_/ && $2 != "A" {print $3}')
if [ -n "$others" ]; then
  echo "exported besides the C ABI: $others" >&2
  exit 1
fi
echo "exports: ok"

# What an engine ships: without symbols, less than 4 MB.
strip -o "$work/stripped.so" "$libdir/libazulejo.so"
size=$(wc -c <"$work/stripped.so")
if [ "$size" -ge 4000000 ]; then
  echo "libazulejo.so has $size bytes, 4000000 or more" >&2
  exit 1
fi
echo "size: ok, $size bytes"

if [ "$compiler" = 0 ]; then
  echo "examples: skipped, this build has no compiler"
  exit 0
fi
"$cmake" --install "$build" --component compiler --prefix "$prefix" >/dev/null
cp -r "$here/../../examples" "$work/examples"
"$cmake" -G Ninja -S "$work/examples" -B "$work/programs" \
  -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$cxx" >/dev/null
set -- first_kernel fused_attention fused_chain custom_mask minilm
for name in "$@"; do
  "$cmake" --build "$work/programs" --target "example_$name" >/dev/null
done

example() { # name, arguments
  name=$1
  shift
  program=$(find "$work/programs" -name "example_$name" -type f)
  if ! env -u AZULEJO_COMPILER -u AZULEJO_WORKER AZULEJO_CACHE_DIR="$work/cache" \
    "$program" "$@" >"$work/out" 2>&1; then
    cat "$work/out" >&2
    echo "the example $name failed" >&2
    exit 1
  fi
  echo "example $name: ok"
}
example first_kernel
example fused_attention --quick
example fused_chain --quick
example custom_mask
if [ -n "$model" ]; then
  example minilm --model "$model" \
    --expected "$work/examples/minilm/expected/expected.safetensors"
else
  example minilm --help
  echo "example minilm: built; not run, for this build knows no model"
fi
# They ran on what was installed, not on what lies in the build tree.
ldd "$program" | grep -q "$prefix/"
