#!/bin/sh
# A stand-in for ptxas: its cubin is its input.
[ "$1" = --version ] && echo 'tools, release 1.2, V1.2.3' && exit
cp "$6" "$5" && echo 'ptxas info    : Used 7 registers'
