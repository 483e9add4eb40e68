// RUN: azulejo-opt %s -split-input-file -azulejo-kernel-to-ptx=target=h200 | FileCheck %s
// RUN: azulejo-opt %s -split-input-file -azulejo-kernel-to-ptx=target=b200 | FileCheck %s --check-prefix=LATER
// What runs on beside its threads: a wrong operand, immediate or parameter here
// is a hang or silent garbage on the device.
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.

// Maps are the first parameters, 128 bytes each, and are never copied to the
// memory of a thread. The assembler is told what a thread's registers are
// before they change hands.
// CHECK-LABEL: .visible .entry copies(
// CHECK-NEXT: .param .align 64 .b8 copies_param_0[128],
// CHECK-NEXT: .param .align 64 .b8 copies_param_1[128],
// CHECK-NEXT: .param .u64 copies_param_2,
// CHECK-NEXT: .param .u64 copies_param_3
// CHECK-NEXT: )
// CHECK-NEXT: .reqntid 256, 1, 1
// CHECK-NEXT: .minnctapersm 1
// CHECK-NOT: .local
// CHECK-DAG: mov.b64 %[[PA:rd[0-9]+]], copies_param_0;
// CHECK-DAG: mov.b64 %[[PB:rd[0-9]+]], copies_param_1;
// CHECK-DAG: cvta.param.u64 %[[A:rd[0-9]+]], %[[PA]];
// CHECK-DAG: cvta.param.u64 %[[B:rd[0-9]+]], %[[PB]];
// CHECK-DAG: ld.param.b32 %[[N:r[0-9]+]], [copies_param_3];
// CHECK: mov.b32 %[[TWO:r[0-9]+]], 2;
// CHECK-NEXT: mbarrier.init.shared.b64 [copies_shared+24576], %[[TWO]];
// CHECK: mbarrier.init.shared.b64 [copies_shared+24584], %[[TWO]];
// CHECK-NEXT: mbarrier.init.shared.b64 [copies_shared+24592], %[[TWO]];
// CHECK-NEXT: fence.mbarrier_init.release.cluster;
// CHECK: bar.sync 0;
// LATER: .target sm_100a
// LATER: .visible .entry copies(
// LATER: cp.async.bulk.tensor
kernel.func @copies threads(256) attributes {
    tensor_maps = [#kernel.bulk_map<view 0, merged [1, 1], box [64, 16], swizzle 128>,
                   #kernel.bulk_map<view 1, merged [1, 1, 2], box [64, 8, 1], swizzle 128>]} {
^bb0(%mapA: !kernel.tensor_map, %mapB: !kernel.tensor_map, %p: i64, %n: i64):
  %zero = arith.constant 0 : i32
  %eight = arith.constant 8 : i32
  %tile = kernel.tile_alloc : !kernel.shared_tile<bf16, 3, 32, 128>
  %full = kernel.phases_alloc arrivals(2) : !kernel.phases<3>
  %narrow = arith.trunci %n : i64 to i32
  kernel.phases_init %full : !kernel.phases<3>
  kernel.barrier

  // CHECK: shl.b32 %[[EIGHTH:r[0-9]+]], %[[N]], 3;
  // CHECK: add.s32 %[[BAR:r[0-9]+]], %{{.*}}, %[[EIGHTH]];
  // CHECK: mov.b32 %[[BYTES:r[0-9]+]], 3072;
  // CHECK: mbarrier.arrive.expect_tx.shared.b64 %{{.*}}, [%[[BAR]]], %[[BYTES]];
  kernel.phase_expect %full[%narrow] bytes(3072) : !kernel.phases<3>
  // Stages of 8192 bytes, slabs of 4096, rows of 128.
  // CHECK: shl.b32 %[[STAGE:r[0-9]+]], %[[N]], 13;
  // CHECK: add.s32 %[[AT:r[0-9]+]], %{{.*}}, %[[STAGE]];
  // CHECK: mov.b32 %[[EIGHT:r[0-9]+]], 8;
  // CHECK: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%[[AT]]+6144], [%[[A]], {%[[EIGHT]], %[[N]]}], [%[[BAR]]];
  kernel.bulk_load %mapA[%eight, %narrow], %tile[%narrow, slab 1, row 16] signals %full[%narrow] : !kernel.shared_tile<bf16, 3, 32, 128>, !kernel.phases<3>
  // CHECK: cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [copies_shared+1024], [%[[B]], {%[[N]], %[[EIGHT]], %{{r[0-9]+}}}], [copies_shared+24576];
  kernel.bulk_load %mapB[%narrow, %eight, %zero], %tile[%zero, slab 0, row 8] signals %full[%zero] : !kernel.shared_tile<bf16, 3, 32, 128>, !kernel.phases<3>

  // CHECK: $[[AGAIN:L__BB[0-9_]+]]:
  // CHECK-NEXT: mbarrier.try_wait.parity.shared.b64 %[[OVER:p[0-9]+]], [copies_shared+24592], %[[EIGHT]];
  // CHECK-NEXT: not.pred %[[NOT:p[0-9]+]], %[[OVER]];
  // CHECK-NEXT: @%[[NOT]] bra $[[AGAIN]];
  %two = arith.constant 2 : i32
  kernel.phase_wait %full[%two] parity %eight : !kernel.phases<3>
  // CHECK: mbarrier.arrive.shared.b64 %{{.*}}, [copies_shared+24584];
  %one = arith.constant 1 : i32
  kernel.phase_arrive %full[%one] : !kernel.phases<3>

  // CHECK: fence.proxy.async.shared::cta;
  kernel.bulk_fence
  // CHECK: bar.sync 3, 128;
  %three = arith.constant 3 : i32
  kernel.group_barrier %three threads(128)
  // CHECK: bar.arrive %[[N]], 256;
  kernel.group_barrier arrive %narrow threads(256)
  // CHECK: cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%[[A]], {%{{r[0-9]+}}, %[[N]]}], [copies_shared+12288];
  kernel.bulk_store %mapA[%eight, %narrow], %tile[%one, slab 1, row 0] : !kernel.shared_tile<bf16, 3, 32, 128>
  // CHECK: cp.async.bulk.commit_group;
  kernel.bulk_commit
  // CHECK: cp.async.bulk.wait_group.read 1;
  kernel.bulk_wait 1
  // CHECK: cp.async.bulk.wait_group 0;
  kernel.bulk_wait 0 complete

  // CHECK: setmaxnreg.dec.sync.aligned.u32 40;
  kernel.set_registers 40
  // CHECK: setmaxnreg.inc.sync.aligned.u32 232;
  kernel.set_registers 232 more
  // CHECK: shfl.sync.idx.b32 %[[FIRST:r[0-9]+]], %[[N]], 0, 31, -1;
  %first = kernel.uniform %narrow
  // CHECK: mov.u32 %{{.*}}, %nctaid.x;
  %blocks = kernel.grid_size
  %wide = arith.extui %first : i32 to i64
  %sum = arith.addi %wide, %blocks : i64
  %c0 = arith.constant 0 : i64
  // CHECK: st.global.b64
  kernel.store i64, %p[%c0] align 8, %sum : i64
}

// -----

// One number for each who asks, of all blocks of the device (what atom says
// without a word on order and scope: relaxed, for the device); nothing else is
// ordered by it.
// CHECK-LABEL: .visible .entry counts(
// CHECK: ld.param.b64 %[[ADDRESS:rd[0-9]+]], [counts_param_1];
// CHECK: atom.global.add.u64 %[[NEXT:rd[0-9]+]], [%[[ADDRESS]]], 1;
// CHECK: add.s64 %{{.*}}, %[[NEXT]],
kernel.func @counts threads(128) attributes {most_blocks = 132 : i64, takes_counter} {
^bb0(%p: i64, %counter: i64):
  %n = kernel.count %counter
  %blocks = kernel.grid_size
  %item = arith.addi %n, %blocks : i64
  %c0 = arith.constant 0 : i64
  kernel.store i64, %p[%c0] align 8, %item : i64
}

// -----

// Barriers where the plan puts them; the bound on the blocks stays what it is.
// CHECK-LABEL: .visible .entry planned(
// CHECK: .minnctapersm 2
// CHECK-NOT: .minnctapersm
// CHECK: mbarrier.init.shared.b64 [planned_shared+64],
// CHECK: mbarrier.init.shared.b64 [planned_shared+72],
// CHECK: entry planned, 128 threads, 80 bytes of shared memory
kernel.func @planned threads(128) attributes {min_blocks = 2 : i32} {
  %full = kernel.phases_alloc arrivals(1) at 64 : !kernel.phases<2>
  kernel.phases_init %full : !kernel.phases<2>
  kernel.set_registers 24
}
