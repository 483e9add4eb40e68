// The headers that nearly every file above MLIR needs; see
// AzulejoLibrary.cmake.
#ifndef AZULEJO_CMAKE_MLIRPCH_H
#define AZULEJO_CMAKE_MLIRPCH_H
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include <map>
#include <optional>
#include <string>
#include <vector>
#endif // AZULEJO_CMAKE_MLIRPCH_H
