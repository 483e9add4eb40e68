//===- RoofKernels.cpp - PTX that a GPU's roofs are measured by -----------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/api/GpuRoofs.h"

namespace azulejo::api {

const char *const kRoofKernels = R"ptx(
.version 7.0
.target sm_80
.address_size 64

.visible .entry azulejo_roof_copy(.param .u64 from, .param .u64 to)
{
  .reg .b32 %r<16>, %block, %thread;
  .reg .b64 %from, %to, %at, %own;
  ld.param.u64 %from, [from];
  ld.param.u64 %to, [to];
  cvta.to.global.u64 %from, %from;
  cvta.to.global.u64 %to, %to;
  mov.u32 %block, %ctaid.x;
  mov.u32 %thread, %tid.x;
  mul.wide.u32 %at, %block, 16384;
  mul.wide.u32 %own, %thread, 16;
  add.u64 %at, %at, %own;
  add.u64 %from, %from, %at;
  add.u64 %to, %to, %at;
  ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%from+0];
  ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%from+4096];
  ld.global.v4.u32 {%r8, %r9, %r10, %r11}, [%from+8192];
  ld.global.v4.u32 {%r12, %r13, %r14, %r15}, [%from+12288];
  st.global.v4.u32 [%to+0], {%r0, %r1, %r2, %r3};
  st.global.v4.u32 [%to+4096], {%r4, %r5, %r6, %r7};
  st.global.v4.u32 [%to+8192], {%r8, %r9, %r10, %r11};
  st.global.v4.u32 [%to+12288], {%r12, %r13, %r14, %r15};
  ret;
}

.visible .entry azulejo_roof_read(.param .u64 from, .param .u64 to)
{
  .reg .pred %hit;
  .reg .b32 %r<32>, %block, %thread;
  .reg .b64 %from, %to, %at, %own;
  ld.param.u64 %from, [from];
  ld.param.u64 %to, [to];
  cvta.to.global.u64 %from, %from;
  cvta.to.global.u64 %to, %to;
  mov.u32 %block, %ctaid.x;
  mov.u32 %thread, %tid.x;
  mul.wide.u32 %at, %block, 32768;
  mul.wide.u32 %own, %thread, 16;
  add.u64 %at, %at, %own;
  add.u64 %from, %from, %at;
  ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%from+0];
  ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%from+4096];
  ld.global.v4.u32 {%r8, %r9, %r10, %r11}, [%from+8192];
  ld.global.v4.u32 {%r12, %r13, %r14, %r15}, [%from+12288];
  ld.global.v4.u32 {%r16, %r17, %r18, %r19}, [%from+16384];
  ld.global.v4.u32 {%r20, %r21, %r22, %r23}, [%from+20480];
  ld.global.v4.u32 {%r24, %r25, %r26, %r27}, [%from+24576];
  ld.global.v4.u32 {%r28, %r29, %r30, %r31}, [%from+28672];
  xor.b32 %r0, %r0, %r1;
  xor.b32 %r0, %r0, %r2;
  xor.b32 %r0, %r0, %r3;
  xor.b32 %r0, %r0, %r4;
  xor.b32 %r0, %r0, %r5;
  xor.b32 %r0, %r0, %r6;
  xor.b32 %r0, %r0, %r7;
  xor.b32 %r0, %r0, %r8;
  xor.b32 %r0, %r0, %r9;
  xor.b32 %r0, %r0, %r10;
  xor.b32 %r0, %r0, %r11;
  xor.b32 %r0, %r0, %r12;
  xor.b32 %r0, %r0, %r13;
  xor.b32 %r0, %r0, %r14;
  xor.b32 %r0, %r0, %r15;
  xor.b32 %r0, %r0, %r16;
  xor.b32 %r0, %r0, %r17;
  xor.b32 %r0, %r0, %r18;
  xor.b32 %r0, %r0, %r19;
  xor.b32 %r0, %r0, %r20;
  xor.b32 %r0, %r0, %r21;
  xor.b32 %r0, %r0, %r22;
  xor.b32 %r0, %r0, %r23;
  xor.b32 %r0, %r0, %r24;
  xor.b32 %r0, %r0, %r25;
  xor.b32 %r0, %r0, %r26;
  xor.b32 %r0, %r0, %r27;
  xor.b32 %r0, %r0, %r28;
  xor.b32 %r0, %r0, %r29;
  xor.b32 %r0, %r0, %r30;
  xor.b32 %r0, %r0, %r31;
  // The memory holds zeros: nothing is written, but nobody knows that here.
  setp.ne.u32 %hit, %r0, 0;
  @%hit st.global.u32 [%to], %r0;
  ret;
}

.visible .entry azulejo_roof_matrix(.param .u64 steps, .param .u64 to)
{
  .reg .pred %more;
  .reg .b32 %a<4>, %b<2>, %block, %threads, %thread, %mix;
  .reg .f32 %d<32>;
  .reg .b64 %to, %left, %own;
  ld.param.u64 %left, [steps];
  ld.param.u64 %to, [to];
  cvta.to.global.u64 %to, %to;
  mov.u32 %block, %ctaid.x;
  mov.u32 %threads, %ntid.x;
  mov.u32 %thread, %tid.x;
  mad.lo.u32 %thread, %block, %threads, %thread;
  mul.wide.u32 %own, %thread, 4;
  add.u64 %to, %to, %own;
  // Numbers between 1 and 2 of either sign: with zeros the units would take
  // less power than they do in use, and run at a higher clock.
  mad.lo.u32 %mix, %thread, 2654435761, 40503;
  and.b32 %a0, %mix, 0x807f807f;
  or.b32 %a0, %a0, 0x3f803f80;
  mad.lo.u32 %mix, %thread, 2654435759, 81006;
  and.b32 %a1, %mix, 0x807f807f;
  or.b32 %a1, %a1, 0x3f803f80;
  mad.lo.u32 %mix, %thread, 2654435757, 121509;
  and.b32 %a2, %mix, 0x807f807f;
  or.b32 %a2, %a2, 0x3f803f80;
  mad.lo.u32 %mix, %thread, 2654435755, 162012;
  and.b32 %a3, %mix, 0x807f807f;
  or.b32 %a3, %a3, 0x3f803f80;
  mad.lo.u32 %mix, %thread, 2654435753, 202515;
  and.b32 %b0, %mix, 0x807f807f;
  or.b32 %b0, %b0, 0x3f803f80;
  mad.lo.u32 %mix, %thread, 2654435751, 243018;
  and.b32 %b1, %mix, 0x807f807f;
  or.b32 %b1, %b1, 0x3f803f80;
  mov.f32 %d0, 0f00000000;
  mov.f32 %d1, 0f00000000;
  mov.f32 %d2, 0f00000000;
  mov.f32 %d3, 0f00000000;
  mov.f32 %d4, 0f00000000;
  mov.f32 %d5, 0f00000000;
  mov.f32 %d6, 0f00000000;
  mov.f32 %d7, 0f00000000;
  mov.f32 %d8, 0f00000000;
  mov.f32 %d9, 0f00000000;
  mov.f32 %d10, 0f00000000;
  mov.f32 %d11, 0f00000000;
  mov.f32 %d12, 0f00000000;
  mov.f32 %d13, 0f00000000;
  mov.f32 %d14, 0f00000000;
  mov.f32 %d15, 0f00000000;
  mov.f32 %d16, 0f00000000;
  mov.f32 %d17, 0f00000000;
  mov.f32 %d18, 0f00000000;
  mov.f32 %d19, 0f00000000;
  mov.f32 %d20, 0f00000000;
  mov.f32 %d21, 0f00000000;
  mov.f32 %d22, 0f00000000;
  mov.f32 %d23, 0f00000000;
  mov.f32 %d24, 0f00000000;
  mov.f32 %d25, 0f00000000;
  mov.f32 %d26, 0f00000000;
  mov.f32 %d27, 0f00000000;
  mov.f32 %d28, 0f00000000;
  mov.f32 %d29, 0f00000000;
  mov.f32 %d30, 0f00000000;
  mov.f32 %d31, 0f00000000;
LOOP:
  mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
    {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1},
    {%d0, %d1, %d2, %d3};
  mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
    {%d4, %d5, %d6, %d7}, {%a0, %a1, %a2, %a3}, {%b0, %b1},
    {%d4, %d5, %d6, %d7};
  mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
    {%d8, %d9, %d10, %d11}, {%a0, %a1, %a2, %a3}, {%b0, %b1},
    {%d8, %d9, %d10, %d11};
  mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
    {%d12, %d13, %d14, %d15}, {%a0, %a1, %a2, %a3}, {%b0, %b1},
    {%d12, %d13, %d14, %d15};
  mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
    {%d16, %d17, %d18, %d19}, {%a0, %a1, %a2, %a3}, {%b0, %b1},
    {%d16, %d17, %d18, %d19};
  mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
    {%d20, %d21, %d22, %d23}, {%a0, %a1, %a2, %a3}, {%b0, %b1},
    {%d20, %d21, %d22, %d23};
  mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
    {%d24, %d25, %d26, %d27}, {%a0, %a1, %a2, %a3}, {%b0, %b1},
    {%d24, %d25, %d26, %d27};
  mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
    {%d28, %d29, %d30, %d31}, {%a0, %a1, %a2, %a3}, {%b0, %b1},
    {%d28, %d29, %d30, %d31};
  sub.u64 %left, %left, 1;
  setp.ne.u64 %more, %left, 0;
  @%more bra LOOP;
  add.f32 %d0, %d0, %d1;
  add.f32 %d0, %d0, %d2;
  add.f32 %d0, %d0, %d3;
  add.f32 %d0, %d0, %d4;
  add.f32 %d0, %d0, %d5;
  add.f32 %d0, %d0, %d6;
  add.f32 %d0, %d0, %d7;
  add.f32 %d0, %d0, %d8;
  add.f32 %d0, %d0, %d9;
  add.f32 %d0, %d0, %d10;
  add.f32 %d0, %d0, %d11;
  add.f32 %d0, %d0, %d12;
  add.f32 %d0, %d0, %d13;
  add.f32 %d0, %d0, %d14;
  add.f32 %d0, %d0, %d15;
  add.f32 %d0, %d0, %d16;
  add.f32 %d0, %d0, %d17;
  add.f32 %d0, %d0, %d18;
  add.f32 %d0, %d0, %d19;
  add.f32 %d0, %d0, %d20;
  add.f32 %d0, %d0, %d21;
  add.f32 %d0, %d0, %d22;
  add.f32 %d0, %d0, %d23;
  add.f32 %d0, %d0, %d24;
  add.f32 %d0, %d0, %d25;
  add.f32 %d0, %d0, %d26;
  add.f32 %d0, %d0, %d27;
  add.f32 %d0, %d0, %d28;
  add.f32 %d0, %d0, %d29;
  add.f32 %d0, %d0, %d30;
  add.f32 %d0, %d0, %d31;
  st.global.f32 [%to], %d0;
  ret;
}

.visible .entry azulejo_roof_f32(.param .u64 steps, .param .u64 to)
{
  .reg .pred %more;
  .reg .b32 %block, %threads, %thread;
  .reg .f32 %d<16>, %factor, %term;
  .reg .b64 %to, %left, %own;
  ld.param.u64 %left, [steps];
  ld.param.u64 %to, [to];
  cvta.to.global.u64 %to, %to;
  mov.u32 %block, %ctaid.x;
  mov.u32 %threads, %ntid.x;
  mov.u32 %thread, %tid.x;
  mad.lo.u32 %thread, %block, %threads, %thread;
  mul.wide.u32 %own, %thread, 4;
  add.u64 %to, %to, %own;
  cvt.rn.f32.u32 %term, %thread;
  mul.f32 %term, %term, 0f3a83126f;
  mov.f32 %factor, 0f3f7fbe77;
  add.f32 %d0, %term, 0f3f800000;
  add.f32 %d1, %term, 0f3f810000;
  add.f32 %d2, %term, 0f3f820000;
  add.f32 %d3, %term, 0f3f830000;
  add.f32 %d4, %term, 0f3f840000;
  add.f32 %d5, %term, 0f3f850000;
  add.f32 %d6, %term, 0f3f860000;
  add.f32 %d7, %term, 0f3f870000;
  add.f32 %d8, %term, 0f3f880000;
  add.f32 %d9, %term, 0f3f890000;
  add.f32 %d10, %term, 0f3f8a0000;
  add.f32 %d11, %term, 0f3f8b0000;
  add.f32 %d12, %term, 0f3f8c0000;
  add.f32 %d13, %term, 0f3f8d0000;
  add.f32 %d14, %term, 0f3f8e0000;
  add.f32 %d15, %term, 0f3f8f0000;
LOOP:
  fma.rn.f32 %d0, %d0, %factor, %term;
  fma.rn.f32 %d1, %d1, %factor, %term;
  fma.rn.f32 %d2, %d2, %factor, %term;
  fma.rn.f32 %d3, %d3, %factor, %term;
  fma.rn.f32 %d4, %d4, %factor, %term;
  fma.rn.f32 %d5, %d5, %factor, %term;
  fma.rn.f32 %d6, %d6, %factor, %term;
  fma.rn.f32 %d7, %d7, %factor, %term;
  fma.rn.f32 %d8, %d8, %factor, %term;
  fma.rn.f32 %d9, %d9, %factor, %term;
  fma.rn.f32 %d10, %d10, %factor, %term;
  fma.rn.f32 %d11, %d11, %factor, %term;
  fma.rn.f32 %d12, %d12, %factor, %term;
  fma.rn.f32 %d13, %d13, %factor, %term;
  fma.rn.f32 %d14, %d14, %factor, %term;
  fma.rn.f32 %d15, %d15, %factor, %term;
  fma.rn.f32 %d0, %d0, %factor, %term;
  fma.rn.f32 %d1, %d1, %factor, %term;
  fma.rn.f32 %d2, %d2, %factor, %term;
  fma.rn.f32 %d3, %d3, %factor, %term;
  fma.rn.f32 %d4, %d4, %factor, %term;
  fma.rn.f32 %d5, %d5, %factor, %term;
  fma.rn.f32 %d6, %d6, %factor, %term;
  fma.rn.f32 %d7, %d7, %factor, %term;
  fma.rn.f32 %d8, %d8, %factor, %term;
  fma.rn.f32 %d9, %d9, %factor, %term;
  fma.rn.f32 %d10, %d10, %factor, %term;
  fma.rn.f32 %d11, %d11, %factor, %term;
  fma.rn.f32 %d12, %d12, %factor, %term;
  fma.rn.f32 %d13, %d13, %factor, %term;
  fma.rn.f32 %d14, %d14, %factor, %term;
  fma.rn.f32 %d15, %d15, %factor, %term;
  fma.rn.f32 %d0, %d0, %factor, %term;
  fma.rn.f32 %d1, %d1, %factor, %term;
  fma.rn.f32 %d2, %d2, %factor, %term;
  fma.rn.f32 %d3, %d3, %factor, %term;
  fma.rn.f32 %d4, %d4, %factor, %term;
  fma.rn.f32 %d5, %d5, %factor, %term;
  fma.rn.f32 %d6, %d6, %factor, %term;
  fma.rn.f32 %d7, %d7, %factor, %term;
  fma.rn.f32 %d8, %d8, %factor, %term;
  fma.rn.f32 %d9, %d9, %factor, %term;
  fma.rn.f32 %d10, %d10, %factor, %term;
  fma.rn.f32 %d11, %d11, %factor, %term;
  fma.rn.f32 %d12, %d12, %factor, %term;
  fma.rn.f32 %d13, %d13, %factor, %term;
  fma.rn.f32 %d14, %d14, %factor, %term;
  fma.rn.f32 %d15, %d15, %factor, %term;
  fma.rn.f32 %d0, %d0, %factor, %term;
  fma.rn.f32 %d1, %d1, %factor, %term;
  fma.rn.f32 %d2, %d2, %factor, %term;
  fma.rn.f32 %d3, %d3, %factor, %term;
  fma.rn.f32 %d4, %d4, %factor, %term;
  fma.rn.f32 %d5, %d5, %factor, %term;
  fma.rn.f32 %d6, %d6, %factor, %term;
  fma.rn.f32 %d7, %d7, %factor, %term;
  fma.rn.f32 %d8, %d8, %factor, %term;
  fma.rn.f32 %d9, %d9, %factor, %term;
  fma.rn.f32 %d10, %d10, %factor, %term;
  fma.rn.f32 %d11, %d11, %factor, %term;
  fma.rn.f32 %d12, %d12, %factor, %term;
  fma.rn.f32 %d13, %d13, %factor, %term;
  fma.rn.f32 %d14, %d14, %factor, %term;
  fma.rn.f32 %d15, %d15, %factor, %term;
  sub.u64 %left, %left, 1;
  setp.ne.u64 %more, %left, 0;
  @%more bra LOOP;
  add.f32 %d0, %d0, %d1;
  add.f32 %d0, %d0, %d2;
  add.f32 %d0, %d0, %d3;
  add.f32 %d0, %d0, %d4;
  add.f32 %d0, %d0, %d5;
  add.f32 %d0, %d0, %d6;
  add.f32 %d0, %d0, %d7;
  add.f32 %d0, %d0, %d8;
  add.f32 %d0, %d0, %d9;
  add.f32 %d0, %d0, %d10;
  add.f32 %d0, %d0, %d11;
  add.f32 %d0, %d0, %d12;
  add.f32 %d0, %d0, %d13;
  add.f32 %d0, %d0, %d14;
  add.f32 %d0, %d0, %d15;
  st.global.f32 [%to], %d0;
  ret;
}
)ptx";

} // namespace azulejo::api
