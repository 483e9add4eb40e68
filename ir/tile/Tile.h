//===- Tile.h - the tile dialect --------------------------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_TILE_TILE_H
#define AZULEJO_IR_TILE_TILE_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ir/tile/TileDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/tile/TileTypes.h.inc"

#define GET_OP_CLASSES
#include "ir/tile/TileOps.h.inc"

namespace azulejo::tile {

/// The type in which elements of a storage type are computed: f32 for every
/// float, i32 for i8, otherwise the type itself.
mlir::Type computeType(mlir::Type storage);

} // namespace azulejo::tile

#endif // AZULEJO_IR_TILE_TILE_H
