//===- CheckKernels.cpp - PTX of the checks and the clock -----------------===//
//
// Each thread walks the array in steps of the grid and adds its own counts at
// the end, so that arrays which differ everywhere do not queue up at one
// address.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "autotune/measure/CheckKernels.h"

namespace azulejo::measure {

const char *const kCheckKernels = R"ptx(
.version 7.0
.target sm_80
.address_size 64

.visible .entry azulejo_check_bytes(
  .param .u64 a, .param .u64 b, .param .u64 pattern, .param .u64 n,
  .param .u64 result)
{
  .reg .pred %done, %other, %same, %none;
  .reg .b32 %x, %y, %block, %threads, %thread, %blocks, %fixed;
  .reg .b64 %a, %b, %n, %out, %i, %step, %at, %pattern;
  .reg .b64 %count, %first, %last;
  ld.param.u64 %a, [a];
  ld.param.u64 %b, [b];
  ld.param.u64 %pattern, [pattern];
  ld.param.u64 %n, [n];
  ld.param.u64 %out, [result];
  cvta.to.global.u64 %a, %a;
  cvta.to.global.u64 %out, %out;
  setp.ne.u64 %other, %b, 0;
  cvta.to.global.u64 %b, %b;
  cvt.u32.u64 %fixed, %pattern;
  mov.u32 %block, %ctaid.x;
  mov.u32 %threads, %ntid.x;
  mov.u32 %thread, %tid.x;
  mov.u32 %blocks, %nctaid.x;
  mul.wide.u32 %i, %block, %threads;
  cvt.u64.u32 %at, %thread;
  add.u64 %i, %i, %at;
  mul.wide.u32 %step, %blocks, %threads;
  mov.u64 %count, 0;
  mov.u64 %first, -1;
  mov.u64 %last, 0;
LOOP:
  setp.ge.u64 %done, %i, %n;
  @%done bra END;
  add.u64 %at, %a, %i;
  ld.global.u8 %x, [%at];
  mov.b32 %y, %fixed;
  add.u64 %at, %b, %i;
  @%other ld.global.u8 %y, [%at];
  setp.eq.u32 %same, %x, %y;
  @%same bra NEXT;
  add.u64 %count, %count, 1;
  min.u64 %first, %first, %i;
  add.u64 %at, %i, 1;
  max.u64 %last, %last, %at;
NEXT:
  add.u64 %i, %i, %step;
  bra LOOP;
END:
  setp.eq.u64 %none, %count, 0;
  @%none bra LEAVE;
  red.global.add.u64 [%out], %count;
  red.global.min.u64 [%out+8], %first;
  red.global.max.u64 [%out+16], %last;
LEAVE:
  ret;
}

.visible .entry azulejo_check_floats(
  .param .u64 actual, .param .u64 expected, .param .u64 kind, .param .u64 n,
  .param .f64 limit, .param .f64 typical, .param .u64 result)
{
  .reg .pred %done, %is32, %isHalf, %okA, %okE, %bad, %fine;
  .reg .b16 %ha, %he;
  .reg .b32 %ba, %be, %block, %threads, %thread, %blocks;
  .reg .f32 %fa, %fe;
  .reg .f64 %da, %de, %diff, %most, %limit, %typical, %sumD, %sumE;
  .reg .b64 %a, %e, %n, %out, %i, %step, %pa, %pe, %kind;
  .reg .b64 %count, %first;
  ld.param.u64 %a, [actual];
  ld.param.u64 %e, [expected];
  ld.param.u64 %kind, [kind];
  ld.param.u64 %n, [n];
  ld.param.f64 %limit, [limit];
  ld.param.f64 %typical, [typical];
  ld.param.u64 %out, [result];
  cvta.to.global.u64 %a, %a;
  cvta.to.global.u64 %e, %e;
  cvta.to.global.u64 %out, %out;
  setp.eq.u64 %is32, %kind, 0;
  setp.eq.u64 %isHalf, %kind, 1;
  mov.u32 %block, %ctaid.x;
  mov.u32 %threads, %ntid.x;
  mov.u32 %thread, %tid.x;
  mov.u32 %blocks, %nctaid.x;
  mul.wide.u32 %i, %block, %threads;
  cvt.u64.u32 %pa, %thread;
  add.u64 %i, %i, %pa;
  mul.wide.u32 %step, %blocks, %threads;
  mov.u64 %count, 0;
  mov.u64 %first, -1;
  mov.f64 %sumD, 0d0000000000000000;
  mov.f64 %sumE, 0d0000000000000000;
LOOP:
  setp.ge.u64 %done, %i, %n;
  @%done bra END;
  @%is32 bra WIDE;
  shl.b64 %pa, %i, 1;
  add.u64 %pe, %e, %pa;
  add.u64 %pa, %a, %pa;
  ld.global.b16 %ha, [%pa];
  ld.global.b16 %he, [%pe];
  @%isHalf bra HALF;
  mov.b32 %ba, {0, %ha};
  mov.b32 %be, {0, %he};
  mov.b32 %fa, %ba;
  mov.b32 %fe, %be;
  bra HAVE;
HALF:
  cvt.f32.f16 %fa, %ha;
  cvt.f32.f16 %fe, %he;
  bra HAVE;
WIDE:
  shl.b64 %pa, %i, 2;
  add.u64 %pe, %e, %pa;
  add.u64 %pa, %a, %pa;
  ld.global.f32 %fa, [%pa];
  ld.global.f32 %fe, [%pe];
HAVE:
  testp.finite.f32 %okA, %fa;
  testp.finite.f32 %okE, %fe;
  xor.pred %bad, %okA, %okE;
  @%bad bra BEYOND;
  @!%okE bra NEXT;
  cvt.f64.f32 %da, %fa;
  cvt.f64.f32 %de, %fe;
  sub.f64 %diff, %da, %de;
  fma.rn.f64 %sumD, %diff, %diff, %sumD;
  fma.rn.f64 %sumE, %de, %de, %sumE;
  abs.f64 %diff, %diff;
  abs.f64 %de, %de;
  max.f64 %most, %de, %typical;
  mul.f64 %most, %most, %limit;
  setp.le.f64 %fine, %diff, %most;
  @%fine bra NEXT;
BEYOND:
  add.u64 %count, %count, 1;
  min.u64 %first, %first, %i;
NEXT:
  add.u64 %i, %i, %step;
  bra LOOP;
END:
  red.global.add.u64 [%out], %count;
  red.global.min.u64 [%out+8], %first;
  red.global.add.f64 [%out+16], %sumD;
  red.global.add.f64 [%out+24], %sumE;
  ret;
}

.visible .entry azulejo_probe_clock(.param .u64 result, .param .u64 ns)
{
  .reg .pred %wait, %late, %more;
  .reg .b64 %out, %ns, %t0, %t1, %c0, %c1, %limit, %start;
  ld.param.u64 %out, [result];
  ld.param.u64 %ns, [ns];
  cvta.to.global.u64 %out, %out;
  // The timer moves in steps: begin and end at one. A timer that stands still
  // must not hold us: the counter bounds both loops.
  mov.u64 %start, %clock64;
  mov.u64 %t1, %globaltimer;
EDGE:
  mov.u64 %t0, %globaltimer;
  mov.u64 %c0, %clock64;
  sub.u64 %limit, %c0, %start;
  setp.gt.u64 %late, %limit, 1000000;
  setp.eq.u64 %wait, %t0, %t1;
  @%late bra STORE;
  @%wait bra EDGE;
LOOP:
  mov.u64 %t1, %globaltimer;
  mov.u64 %c1, %clock64;
  sub.u64 %limit, %c1, %c0;
  setp.gt.u64 %late, %limit, 1000000;
  sub.u64 %start, %t1, %t0;
  setp.lt.u64 %more, %start, %ns;
  @%late bra STORE;
  @%more bra LOOP;
STORE:
  mov.u64 %c1, %clock64;
  mov.u64 %t1, %globaltimer;
  sub.u64 %c1, %c1, %c0;
  sub.u64 %t1, %t1, %t0;
  st.global.u64 [%out], %c1;
  st.global.u64 [%out+8], %t1;
  ret;
}
)ptx";

} // namespace azulejo::measure
