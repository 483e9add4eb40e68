//===- Notes.h - why a rewrite did not happen, as data ----------*- C++ -*-===//
//
// A rule that looks at some ops and declines says so on the function, in the
// attribute `graph.notes`: a list of dictionaries {rule, ops, text}. `rule` is
// the rule's name, `ops` names the ops by label (by kind when unlabelled) and
// `text` is one sentence. explain() shows them; no rewrite reads them.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_IR_GRAPH_NOTES_H
#define AZULEJO_IR_GRAPH_NOTES_H

#include "mlir/IR/Operation.h"

namespace azulejo::graphir {

inline constexpr llvm::StringLiteral kNotesAttr = "graph.notes";

/// Appends a note to the function around the first of `ops`, unless the same
/// note is there. Ops outside a function leave none.
void addNote(llvm::StringRef rule, llvm::ArrayRef<mlir::Operation *> ops,
             const llvm::Twine &text);

struct Note {
  std::string rule;
  std::vector<std::string> ops;
  std::string text;
};
/// The notes on a function, in the order in which they were left.
std::vector<Note> notesOf(mlir::Operation *function);

} // namespace azulejo::graphir

#endif // AZULEJO_IR_GRAPH_NOTES_H
