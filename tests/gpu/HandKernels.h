//===- HandKernels.h - kernels and plans by hand ----------------*- C++ -*-===//
//
// What tests of the runtime run: kernels of which everything is known, without
// any compiler. As PTX for sm_80, so that every supported GPU takes them.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_GPU_HANDKERNELS_H
#define AZULEJO_TESTS_GPU_HANDKERNELS_H

#include "runtime/plan/Plan.h"

namespace azulejo::gputest {

/// twice: y[block, j] = 2 x[block, j] for j < n, rows sx and sy apart.
/// edge: y[0, 0] = the last word of n bytes of shared memory, written first.
/// poke: writes where no memory is. trap: stops in the middle. race: y[0, 0] =
/// what another warp writes to shared memory, whether it has or not.
inline constexpr const char *kHandKernels = R"(
.version 7.0
.target sm_80
.address_size 64

.visible .entry twice(.param .u64 x, .param .u64 sx, .param .u64 y,
                      .param .u64 sy, .param .u64 n) {
  .reg .pred %p;
  .reg .b32 %r<3>;
  .reg .b64 %d<12>;
  .reg .f32 %f;
  ld.param.u64 %d0, [x];
  ld.param.u64 %d1, [sx];
  ld.param.u64 %d2, [y];
  ld.param.u64 %d3, [sy];
  ld.param.u64 %d4, [n];
  mov.u32 %r0, %ctaid.x;
  cvt.u64.u32 %d5, %r0;
  mul.lo.u64 %d1, %d1, %d5;
  shl.b64 %d1, %d1, 2;
  add.u64 %d0, %d0, %d1;
  mul.lo.u64 %d3, %d3, %d5;
  shl.b64 %d3, %d3, 2;
  add.u64 %d2, %d2, %d3;
  mov.u32 %r1, %tid.x;
  cvt.u64.u32 %d6, %r1;
  mov.u32 %r2, %ntid.x;
  cvt.u64.u32 %d7, %r2;
again:
  setp.ge.u64 %p, %d6, %d4;
  @%p bra done;
  shl.b64 %d8, %d6, 2;
  add.u64 %d9, %d0, %d8;
  ld.global.f32 %f, [%d9];
  add.f32 %f, %f, %f;
  add.u64 %d10, %d2, %d8;
  st.global.f32 [%d10], %f;
  add.u64 %d6, %d6, %d7;
  bra again;
done:
  ret;
}

.extern .shared .align 16 .b8 room[];

.visible .entry edge(.param .u64 x, .param .u64 sx, .param .u64 y,
                     .param .u64 sy, .param .u64 n) {
  .reg .b32 %r<2>;
  .reg .b64 %d<2>;
  .reg .f32 %f<2>;
  ld.param.u64 %d0, [n];
  ld.param.u64 %d1, [y];
  cvt.u32.u64 %r0, %d0;
  mov.u32 %r1, room;
  add.u32 %r1, %r1, %r0;
  mov.f32 %f0, 0f42280000;
  st.shared.f32 [%r1+-4], %f0;
  bar.sync 0;
  ld.shared.f32 %f1, [%r1+-4];
  st.global.f32 [%d1], %f1;
  ret;
}

.visible .entry race(.param .u64 x, .param .u64 sx, .param .u64 y,
                     .param .u64 sy, .param .u64 n) {
  .reg .pred %p;
  .reg .b32 %r<3>;
  .reg .b64 %d;
  .reg .f32 %f<2>;
  mov.u32 %r0, %tid.x;
  shl.b32 %r1, %r0, 2;
  mov.u32 %r2, room;
  add.u32 %r1, %r1, %r2;
  cvt.rn.f32.u32 %f0, %r0;
  st.shared.f32 [%r1], %f0;
  setp.ne.u32 %p, %r0, 0;
  @%p bra done;
  ld.shared.f32 %f1, [%r2+128];
  ld.param.u64 %d, [y];
  st.global.f32 [%d], %f1;
done:
  ret;
}

.visible .entry poke(.param .u64 x, .param .u64 sx, .param .u64 y,
                     .param .u64 sy, .param .u64 n) {
  .reg .b64 %d;
  .reg .f32 %f;
  mov.u64 %d, 4096;
  mov.f32 %f, 0f00000000;
  st.global.f32 [%d], %f;
  ret;
}

.visible .entry trap(.param .u64 x, .param .u64 sx, .param .u64 y,
                     .param .u64 sy, .param .u64 n) {
  trap;
}
)";

/// y[S, n] = kernel(x[S, n]) with a block per row.
inline plan::Plan handPlan(const char *kernel, plan::Expr n = plan::Expr(8),
                           int64_t sharedBytes = 0) {
  using plan::Expr;
  plan::Plan plan;
  plan.target = "sm_80";
  plan.producer = "by hand";
  plan.dims = {{"S", 0, int64_t{1} << 31}};
  for (auto [kind, name] : {std::pair(plan::BufferKind::Input, "x"),
                            std::pair(plan::BufferKind::Output, "y")}) {
    plan::Buffer buffer;
    buffer.kind = kind;
    buffer.name = name;
    buffer.shape = {Expr::dim(0), n};
    plan.buffers.push_back(buffer);
  }
  plan.buffers[1].mayAlias = 0;
  plan.images.push_back(
      {"ptx", "sm_80", "", plan::digestOf(kHandKernels), kHandKernels});
  plan::Launch launch;
  launch.kernel = kernel;
  launch.entry = kernel;
  launch.image = 0;
  launch.grid = Expr::dim(0);
  launch.blockThreads = 64;
  launch.scratchBytes = sharedBytes;
  for (int32_t buffer : {0, 1})
    for (auto kind : {plan::Arg::Address, plan::Arg::Stride}) {
      plan::Arg arg;
      arg.kind = kind;
      arg.buffer = buffer;
      launch.args.push_back(arg);
    }
  plan::Arg size;
  size.kind = plan::Arg::Size;
  size.size = sharedBytes ? Expr(sharedBytes) : n;
  launch.args.push_back(size);
  plan.launches.push_back(launch);
  return plan;
}

} // namespace azulejo::gputest

#endif // AZULEJO_TESTS_GPU_HANDKERNELS_H
