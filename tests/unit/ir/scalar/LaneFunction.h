//===- LaneFunction.h - emitted arithmetic made callable --------*- C++ -*-===//
//-*-===//
//
// What ir/scalar emits is arith and math ops. A LaneFunction compiles them for
// this host, behind the optimizer and without any library function in reach,
// so that tests can run them over many values. The same ops go into GPU code:
// scalars, with Clamp::Minimum.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_UNIT_IR_SCALAR_LANEFUNCTION_H
#define AZULEJO_TESTS_UNIT_IR_SCALAR_LANEFUNCTION_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace llvm::orc {
class LLJIT;
} // namespace llvm::orc

namespace azulejo::scalar {

class LaneFunction {
public:
  /// Emits the function of its operands: f32, or vectors of them.
  using Build = std::function<mlir::Value(mlir::OpBuilder &, mlir::Location,
                                          llvm::ArrayRef<mlir::Value>)>;

  /// `lanes` 0 stands for a scalar. `features` adds to or takes from those of
  /// the host. What goes wrong is a fatal failure of the test.
  LaneFunction(int operands, int lanes, const Build &build,
               const std::vector<std::string> &features = {});
  ~LaneFunction();

  std::vector<float> operator()(std::vector<float> x,
                                std::vector<float> y = {}) const;
  float operator()(float x, float y = 0) const {
    return (*this)(std::vector<float>(1, x), std::vector<float>(1, y))[0];
  }

private:
  void compile(int operands, int lanes, const Build &build,
               const std::vector<std::string> &features);
  void load(mlir::ModuleOp module, const std::vector<std::string> &features);

  int lanes;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  /// f(x, y, out) over `lanes` values; unary functions ignore y.
  void (*kernel)(const float *, const float *, float *) = nullptr;
};

} // namespace azulejo::scalar

#endif // AZULEJO_TESTS_UNIT_IR_SCALAR_LANEFUNCTION_H
