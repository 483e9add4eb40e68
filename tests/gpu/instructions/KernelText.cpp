//===- KernelText.cpp - writes kernels of the kernel dialect --------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/gpu/instructions/KernelText.h"

namespace azulejo::gputest {

std::string joined(const Values &values) {
  std::string list;
  for (const Value &value : values)
    list += (list.empty() ? "" : ", ") + value;
  return list;
}

std::string joined(const std::string &text, size_t count) {
  return joined(Values(count, text));
}

static std::string numbers(const Sizes &sizes) {
  Values list;
  for (int64_t size : sizes)
    list.push_back(std::to_string(size));
  return "[" + joined(list) + "]";
}

static int64_t alignmentOf(const std::string &storage, size_t count) {
  int64_t bytes = storage == "f32" || storage == "i32" ? 4
                  : storage == "i8"                    ? 1
                                                       : 2;
  return bytes * static_cast<int64_t>(count);
}

KernelText::KernelText(const Case &c, int64_t threads,
                       const std::string &attributes) {
  Values arguments, maps, all;
  if (!attributes.empty())
    all.push_back(attributes);
  for (size_t i = 0; i < c.maps.size(); ++i) {
    const MapSpec &spec = c.maps[i];
    arguments.push_back(map(i) + ": !kernel.tensor_map");
    maps.push_back("#kernel.bulk_map<view " + std::to_string(i) + ", merged " +
                   numbers(spec.merged) + ", box " + numbers(spec.box) +
                   ", swizzle " + std::to_string(spec.swizzle) + ">");
  }
  for (size_t i = 0; i < c.arrays.size(); ++i)
    arguments.push_back(array(i) + ": i64");
  text =
      "kernel.func @" + c.entry() + " threads(" + std::to_string(threads) + ")";
  if (!maps.empty())
    all.push_back("tensor_maps = [" + joined(maps) + "]");
  if (!all.empty())
    text += " attributes {" + joined(all) + "}";
  text += " {\n^bb0(" + joined(arguments) + "):\n";
}

void KernelText::line(const std::string &op) { text += indent + op + "\n"; }

Value KernelText::define(const std::string &op) {
  Value result = fresh();
  line(result + " = " + op);
  return result;
}

Values KernelText::define(size_t count, const std::string &op) {
  if (count == 1)
    return {define(op)};
  Value whole = fresh();
  line(whole + ":" + std::to_string(count) + " = " + op);
  Values parts;
  for (size_t i = 0; i < count; ++i)
    parts.push_back(whole + "#" + std::to_string(i));
  return parts;
}

Value KernelText::i32(int64_t value) {
  return define("arith.constant " + std::to_string(value) + " : i32");
}

Value KernelText::f32(double value) {
  return define("arith.constant " + std::to_string(value) + " : f32");
}

Value KernelText::two(const std::string &op, const Value &x, const Value &y) {
  return define("arith." + op + " " + x + ", " + y + " : i32");
}

Value KernelText::compare(const std::string &predicate, const Value &x,
                          const Value &y) {
  return define("arith.cmpi " + predicate + ", " + x + ", " + y + " : i32");
}

void KernelText::ifThen(const Value &condition,
                        const std::function<void()> &body) {
  line("scf.if " + condition + " {");
  indent += "  ";
  body();
  indent.resize(indent.size() - 2);
  line("}");
}

Values KernelText::loop(
    const Value &from, const Value &to, const Value &step,
    const Values &initial, const Values &types,
    const std::function<Values(const Value &, const Values &)> &body) {
  Value counter = fresh();
  std::string head =
      "scf.for " + counter + " = " + from + " to " + to + " step " + step;
  Values carried, results, pairs;
  for (const Value &value : initial) {
    carried.push_back(fresh());
    pairs.push_back(carried.back() + " = " + value);
  }
  if (!initial.empty()) {
    Value whole = fresh();
    head = whole + ":" + std::to_string(initial.size()) + " = " + head +
           " iter_args(" + joined(pairs) + ") -> (" + joined(types) + ")";
    for (size_t i = 0; i < initial.size(); ++i)
      results.push_back(whole + "#" + std::to_string(i));
  }
  line(head + " : i32 {");
  indent += "  ";
  Values on = body(counter, carried);
  if (!on.empty())
    line("scf.yield " + joined(on) + " : " + joined(types));
  indent.resize(indent.size() - 2);
  line("}");
  return results;
}

void KernelText::loop(const Value &from, const Value &to, const Value &step,
                      const std::function<void(const Value &)> &body) {
  loop(from, to, step, {}, {}, [&](const Value &counter, const Values &) {
    body(counter);
    return Values();
  });
}

Values KernelText::load(const std::string &storage, size_t number,
                        const Value &element, size_t count) {
  Value wide = define("arith.extui " + element + " : i32 to i64");
  bool isInteger = storage[0] == 'i';
  return define(count, "kernel.load " + storage + ", " + array(number) + "[" +
                           wide + "] align " +
                           std::to_string(alignmentOf(storage, count)) +
                           " -> " + joined(isInteger ? "i32" : "f32", count));
}

void KernelText::store(const std::string &storage, size_t number,
                       const Value &element, const Values &values) {
  Value wide = define("arith.extui " + element + " : i32 to i64");
  bool isInteger = storage[0] == 'i';
  line("kernel.store " + storage + ", " + array(number) + "[" + wide +
       "] align " + std::to_string(alignmentOf(storage, values.size())) + ", " +
       joined(values) + " : " +
       joined(isInteger ? "i32" : "f32", values.size()));
}

Value KernelText::tile(const Tile &type, int64_t at) {
  return define("kernel.tile_alloc at " + std::to_string(at) + " : " +
                type.text());
}

Value KernelText::sharedArray(const std::string &type, int64_t count,
                              int64_t at) {
  return define("kernel.shared_alloc at " + std::to_string(at) +
                " : !kernel.shared<" + type + ", " + std::to_string(count) +
                ">");
}

Value KernelText::phases(int64_t count, int64_t arrivals, int64_t at) {
  return define("kernel.phases_alloc arrivals(" + std::to_string(arrivals) +
                ") at " + std::to_string(at) + " : !kernel.phases<" +
                std::to_string(count) + ">");
}

Values KernelText::place(const Tile &type, const Value &index) {
  Value line = div(index, type.allColumns());
  return {div(line, type.rows), rem(line, type.rows),
          rem(index, type.allColumns())};
}

void KernelText::fillTile(const Value &tile, const Tile &type, size_t array,
                          const Value &thread, int64_t threads) {
  int64_t chunk = 16 / type.elementBytes();
  Value first = mul(thread, chunk), end = i32(type.elements()),
        step = i32(threads * chunk);
  loop(first, end, step, [&](const Value &index) {
    Values values = load(type.elementText(), array, index, chunk);
    Values at = place(type, index);
    line("kernel.tile_store " + tile + "[" + joined(at) + "], " +
         joined(values) + " : " + type.text() + ", " + joined("f32", chunk));
  });
}

void KernelText::dumpTile(const Value &tile, const Tile &type, size_t array,
                          const Value &thread, int64_t threads) {
  std::string compute = type.dtype == DType::I8 ? "i32" : "f32";
  Value end = i32(type.elements()), step = i32(threads);
  loop(thread, end, step, [&](const Value &index) {
    Values at = place(type, index);
    Values value = define(1, "kernel.tile_load " + tile + "[" + joined(at) +
                                 "] : " + type.text() + " -> " + compute);
    store(compute, array, index, value);
  });
}

void KernelText::delay(const Value &rounds) {
  // A chain of numbers that no assembler foresees, with an effect at the end
  // that it cannot rule out: to close a group of no bulk stores.
  Value zero = i32(0), one = i32(1), seed = define("kernel.thread_id");
  Values last = loop(zero, rounds, one, {seed}, {"i32"},
                     [&](const Value &, const Values &carried) {
                       return Values{add(mul(carried[0], 1664525), 1013904223)};
                     });
  ifThen(isEqual(last[0], 19088743), [&] { line("kernel.bulk_commit"); });
}

std::string KernelText::finish() { return std::move(text) + "}\n"; }

} // namespace azulejo::gputest
