//===- TextBounds.h - what a text may ask of MLIR's parser ------*- C++ -*-===//
//
// MLIR's parser trusts its input in some ways, which are bounded before it
// runs.
//
// Depth: it descends by recursion; brackets that nest too deeply exhaust the
// stack. So do long formulas of affine maps, which no graph has.
//
// Words: an integer of many digits, and a list of dimensions ("1x1x1x..."),
// take it time that grows with the square of their length.
//
// Size: a name for a type or an attribute may stand in the definition of
// another one,
//   !a = tuple<i32, i32>
//   !b = tuple<!a, !a>
//   !c = tuple<!b, !b>
// which stays small in memory, where equal parts are one, and doubles with
// every line when it is printed: by any diagnostic that mentions it. So every
// name is weighed by what it stands for, and the text with each name replaced
// must not be much longer than the text.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_IMPORT_TEXTBOUNDS_H
#define AZULEJO_FRONTEND_IMPORT_TEXTBOUNDS_H

#include "azulejo/Error.h"

#include "llvm/ADT/StringRef.h"

namespace azulejo::importer {

/// Error{InvalidGraph} if the text nests or expands beyond the bounds. Text
/// that is no module passes or not; the parser refuses it.
Status checkTextBounds(llvm::StringRef text);

} // namespace azulejo::importer

#endif // AZULEJO_FRONTEND_IMPORT_TEXTBOUNDS_H
