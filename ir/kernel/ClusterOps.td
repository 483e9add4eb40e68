//===- ClusterOps.td - neighbouring blocks that run together -*- tablegen *===//
//
// The blocks of a cluster (`cluster_blocks` of kernel.func) run at the same
// time and reach each other's shared memory, which is laid out alike in all of
// them. These ops exist on sm_90.
//
//   who sends    waits until all blocks have released a stage, has a box copied
//                to all of them (kernel.bulk_load multicast)
//   who receives expects the bytes of all copies on its own barrier
//   who reads    releases the stage in every block (kernel.phase_arrive_at)
//
// A block's shared memory is there from the first kernel.cluster_barrier on,
// and until all have passed the last one.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_KERNEL_CLUSTEROPS_TD
#define AZULEJO_IR_KERNEL_CLUSTEROPS_TD

def Kernel_ClusterRankOp : Kernel_Op<"cluster_rank", [Pure]> {
  let summary = "The block's number within its cluster";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}

def Kernel_ClusterBarrierOp
    : Kernel_Op<"cluster_barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits for every thread of the cluster that has not ended";
  let description = [{
    Barriers with phases that were initialised before it may be used behind it,
    in every block. It orders no other memory: a fence of the whole device
    would wait for every write. It stands where all threads come by.
  }];
  let assemblyFormat = "attr-dict";
}

def Kernel_PhaseArriveAtOp
    : Kernel_Op<"phase_arrive_at", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Arrives at the same barrier of a block of the cluster";
  let description = [{
    As `kernel.phase_arrive` for the block whose rank is `block`, which may be
    this one: what this thread did before is over. What it wrote is not thereby
    visible to the other block.
  }];
  let arguments = (ins Kernel_PhasesType:$phases, I32:$index, I32:$block);
  let assemblyFormat = [{
    $phases `[` $index `]` `of` $block attr-dict `:` type($phases)
  }];
  let hasVerifier = 1;
}

#endif // AZULEJO_IR_KERNEL_CLUSTEROPS_TD
