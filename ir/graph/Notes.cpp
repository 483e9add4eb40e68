//===- Notes.cpp - why a rewrite did not happen, as data ------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/graph/Notes.h"
#include "ir/graph/GraphTypes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace azulejo;

void graphir::addNote(StringRef rule, ArrayRef<Operation *> ops,
                      const Twine &text) {
  auto function = ops.empty()
                      ? FunctionOpInterface()
                      : ops.front()->getParentOfType<FunctionOpInterface>();
  if (!function)
    return;
  Builder builder(function->getContext());
  SmallVector<Attribute> names;
  for (Operation *op : ops) {
    StringRef label = labelOf(op);
    names.push_back(builder.getStringAttr(label.empty() ? kindOf(op) : label));
  }
  Attribute note = builder.getDictionaryAttr(
      {builder.getNamedAttr("rule", builder.getStringAttr(rule)),
       builder.getNamedAttr("ops", builder.getArrayAttr(names)),
       builder.getNamedAttr("text", builder.getStringAttr(text))});
  SmallVector<Attribute> notes;
  if (auto list = function->getAttrOfType<ArrayAttr>(kNotesAttr))
    llvm::append_range(notes, list);
  if (!llvm::is_contained(notes, note))
    notes.push_back(note);
  function->setAttr(kNotesAttr, builder.getArrayAttr(notes));
}

std::vector<graphir::Note> graphir::notesOf(Operation *function) {
  std::vector<Note> notes;
  auto list = function->getAttrOfType<ArrayAttr>(kNotesAttr);
  if (!list)
    return notes;
  // Text that was given to a tool may hold anything here.
  for (Attribute attr : list) {
    auto entry = dyn_cast<DictionaryAttr>(attr);
    if (!entry)
      continue;
    auto rule = entry.getAs<StringAttr>("rule");
    auto ops = entry.getAs<ArrayAttr>("ops");
    auto text = entry.getAs<StringAttr>("text");
    if (!rule || !ops || !text)
      continue;
    Note &note = notes.emplace_back();
    note.rule = rule.str();
    note.text = text.str();
    for (Attribute op : ops)
      if (auto name = dyn_cast<StringAttr>(op))
        note.ops.push_back(name.str());
  }
  return notes;
}
