//===- azulejo-opt.cpp - textual IR in and out ----------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/register/Register.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  azulejo::registerAll(registry);
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "azulejo's modular optimiser driver\n", registry));
}
