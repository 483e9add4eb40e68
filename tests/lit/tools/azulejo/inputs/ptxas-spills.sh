#!/bin/sh
# A stand-in for ptxas whose registers never suffice.
[ "$1" = --version ] && echo 'tools, release 1.2, V1.2.3' && exit
cp "$6" "$5" && echo 'ptxas info    : Used 255 registers'
echo '    0 bytes stack frame, 96 bytes spill stores, 64 bytes spill loads'
