#!/bin/sh
# Makes the folder to carry to a machine with a GPU: the launcher, which needs
# libc and a driver only, and the plans it runs.
#
#   tests/gpu/make_bundle.sh <build directory> <new folder>
#
# There: <folder>/run.sh. It leaves <folder>/row_chain.jsonl.
set -eu
if [ $# -ne 2 ]; then
  echo "usage: $0 <build directory> <new folder>" >&2
  exit 2
fi
build=$1
folder=$2
ptxas=${AZULEJO_PTXAS:-$(command -v ptxas || true)}
if [ -z "$ptxas" ]; then
  echo "$0: no ptxas; set AZULEJO_PTXAS" >&2
  exit 1
fi
mkdir "$folder"
"$build/bin/azulejo-gpu-bundle" "$folder" "$ptxas"
cp "$build/bin/azulejo-gpu-launch" "$folder/"
cat > "$folder/run.sh" <<'RUN'
#!/bin/sh
here=$(dirname "$0")
AZULEJO_REQUIRE_GPU=1 exec "$here/azulejo-gpu-launch" "$here"
RUN
chmod +x "$folder/run.sh"
kilobytes=$(du -sk "$folder" | cut -f1)
if [ "$kilobytes" -ge 65536 ]; then
  echo "$0: $folder has $kilobytes KiB, more than 64 MiB" >&2
  exit 1
fi
echo "$folder: $kilobytes KiB"
