//===- TwicePlan.h - a plan that doubles, on any device ---------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_UNIT_RUNTIME_TWICEPLAN_H
#define AZULEJO_TESTS_UNIT_RUNTIME_TWICEPLAN_H

#include "runtime/plan/Plan.h"

namespace azulejo::runtime {

/// y[S, 8] = 2 x[S, 8] by the image's kernel, or 4 x by two launches of it,
/// with t[S, 8] in the workspace between them. The kernel takes x, its stride,
/// y, its stride, and the number of columns; one work item is a row.
inline plan::Plan twicePlanOf(plan::Image image, bool throughWorkspace) {
  using plan::Expr;
  plan::Plan plan;
  plan.producer = "test";
  plan.dims = {{"S", 0, 1 << 20}};
  auto buffer = [&](plan::BufferKind kind, const char *name) {
    plan::Buffer b;
    b.kind = kind;
    b.name = name;
    b.shape = {Expr::dim(0), Expr(8)};
    plan.buffers.push_back(b);
  };
  buffer(plan::BufferKind::Input, "x");
  buffer(plan::BufferKind::Output, "y");
  if (throughWorkspace) {
    buffer(plan::BufferKind::Workspace, "t");
    plan.workspaceBytes = Expr::dim(0) * Expr(32);
  }
  plan.images.push_back(std::move(image));
  auto launch = [&](const char *name, int32_t from, int32_t to) {
    plan::Launch l;
    l.kernel = name;
    l.image = 0;
    l.grid = Expr::dim(0);
    for (int32_t b : {from, to})
      for (auto kind : {plan::Arg::Address, plan::Arg::Stride}) {
        plan::Arg arg;
        arg.kind = kind;
        arg.buffer = b;
        l.args.push_back(arg);
      }
    plan::Arg columns;
    columns.kind = plan::Arg::Size;
    columns.size = Expr(8);
    l.args.push_back(columns);
    plan.launches.push_back(l);
  };
  launch("k0", 0, throughWorkspace ? 2 : 1);
  if (throughWorkspace)
    launch("k1", 2, 1);
  return plan;
}

} // namespace azulejo::runtime

#endif // AZULEJO_TESTS_UNIT_RUNTIME_TWICEPLAN_H
