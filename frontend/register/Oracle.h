//===- Oracle.h - which family runs a region --------------------*- C++ -*-===//
//
// Joins fusion, which asks, with the schedule families, which know: who runs a
// region, and about how fast.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_REGISTER_ORACLE_H
#define AZULEJO_FRONTEND_REGISTER_ORACLE_H

#include "ir/target/TargetDesc.h"
#include "passes/fusion/Fusion.h"

namespace azulejo {

/// Asks every family in order on a copy whose normalisations are decomposed.
/// The reason of a refusal is that of the family whose anchor the region holds.
fusion::RegionOracle familyOracle();

/// The estimates of the families' models. `target` must outlive the timer.
fusion::RegionTimer familyTimer(const target::TargetDesc &target);

} // namespace azulejo

#endif // AZULEJO_FRONTEND_REGISTER_ORACLE_H
