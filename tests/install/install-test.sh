#!/bin/sh
# Installs the runtime component to a fresh prefix, moves the prefix, and builds
# and runs two consumers there: by find_package, and by pkg-config alone. Also
# compiles every installed header on its own, and checks what is exported.
#   install-test.sh BUILD_DIR CMAKE CC CXX
set -eu
build=$1 cmake=$2 cc=$3 cxx=$4
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$cmake" --install "$build" --component runtime --prefix "$work/first" >/dev/null
mv "$work/first" "$work/prefix"
prefix=$work/prefix

"$cmake" -S "$here/consumer" -B "$work/build" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" >/dev/null
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
