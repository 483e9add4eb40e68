//===- Oracle.h - which family runs a region --------------------*- C++ -*-===//
//
// Joins fusion, which asks, with the schedule families, which know.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_REGISTER_ORACLE_H
#define AZULEJO_FRONTEND_REGISTER_ORACLE_H

#include "passes/fusion/Fusion.h"

namespace azulejo {

/// Asks every family in order on a copy whose normalisations are decomposed.
/// The reason of a refusal is that of the family whose anchor the region holds.
fusion::RegionOracle familyOracle();

} // namespace azulejo

#endif // AZULEJO_FRONTEND_REGISTER_ORACLE_H
