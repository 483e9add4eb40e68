// RUN: not azulejo-opt %s -azulejo-kernel-to-ptx=target=h200 2>&1 | FileCheck %s
// A wait without a number would have to wait for everything, silently.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// CHECK: error Unsupported: kernel 'unplaced': its kernel.group_wait does not say how many groups may be under way [ptx.async]; hint: run --azulejo-place-group-waits before
kernel.func @unplaced threads(128) {
  %none = kernel.group_none
  kernel.group_wait %none
}
