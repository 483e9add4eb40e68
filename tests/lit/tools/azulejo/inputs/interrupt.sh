#!/bin/sh
# interrupt.sh <log> <text> <command>...: runs the command with stderr in the
# log and interrupts it when the text is there; however long that takes.
# Part of azulejo, under Apache-2.0 WITH LLVM-exception.
log=$1 text=$2
shift 2
: >"$log"
"$@" 2>"$log" &
until grep -q "$text" "$log" || ! kill -0 $!; do sleep 0.1; done
kill -INT $!
wait $!
echo exit $?
