//===- KernelText.h - writes kernels of the kernel dialect ------*- C++ -*-===//
//
// The kernels are written as text: the table needs no MLIR then, and the
// bundle can carry them for people to read. Values are names; the functions
// below write one op each and return the name of its result.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_GPU_INSTRUCTIONS_KERNELTEXT_H
#define AZULEJO_TESTS_GPU_INSTRUCTIONS_KERNELTEXT_H

#include "tests/gpu/instructions/Case.h"
#include "tests/gpu/instructions/Tile.h"

namespace azulejo::gputest {

using Value = std::string;
using Values = std::vector<Value>;

/// "a, b, c"; of `count` copies of one text, too.
std::string joined(const Values &values);
std::string joined(const std::string &text, size_t count);

class KernelText {
public:
  /// A kernel of `threads` threads with the maps and arrays that the case has
  /// by now, and further attributes.
  KernelText(const Case &c, int64_t threads,
             const std::string &attributes = "");

  Value map(size_t number) const { return "%map" + std::to_string(number); }
  Value array(size_t number) const { return "%array" + std::to_string(number); }

  void line(const std::string &op);
  Value define(const std::string &op);
  /// An op with `count` results.
  Values define(size_t count, const std::string &op);

  Value i32(int64_t value);
  Value f32(double value);
  Value add(const Value &x, const Value &y) { return two("addi", x, y); }
  Value mul(const Value &x, const Value &y) { return two("muli", x, y); }
  Value div(const Value &x, const Value &y) { return two("divui", x, y); }
  Value rem(const Value &x, const Value &y) { return two("remui", x, y); }
  Value add(const Value &x, int64_t y) { return add(x, i32(y)); }
  Value mul(const Value &x, int64_t y) { return mul(x, i32(y)); }
  Value div(const Value &x, int64_t y) { return div(x, i32(y)); }
  Value rem(const Value &x, int64_t y) { return rem(x, i32(y)); }
  /// i1; `predicate` is arith.cmpi's.
  Value compare(const std::string &predicate, const Value &x, const Value &y);
  Value isEqual(const Value &x, int64_t y) { return compare("eq", x, i32(y)); }

  void ifThen(const Value &condition, const std::function<void()> &body);
  /// A loop over i32. The body gets the counter and what is carried, and
  /// returns what is carried on.
  Values loop(const Value &from, const Value &to, const Value &step,
              const Values &initial, const Values &types,
              const std::function<Values(const Value &, const Values &)> &body);
  /// The same without values.
  void loop(const Value &from, const Value &to, const Value &step,
            const std::function<void(const Value &)> &body);

  /// `count` neighbours of an array; `element` is i32.
  Values load(const std::string &storage, size_t array, const Value &element,
              size_t count = 1);
  void store(const std::string &storage, size_t array, const Value &element,
             const Values &values);

  Value tile(const Tile &type, int64_t at);
  Value sharedArray(const std::string &type, int64_t count, int64_t at);
  Value phases(int64_t count, int64_t arrivals, int64_t at);
  /// All elements of a tile from an array that holds it row by row, by
  /// `threads` threads.
  void fillTile(const Value &tile, const Tile &type, size_t array,
                const Value &thread, int64_t threads);
  /// The other way round, to an array of f32 (of i32 for a tile of i8).
  void dumpTile(const Value &tile, const Tile &type, size_t array,
                const Value &thread, int64_t threads);
  /// Lets time pass, so that what should wait has something to wait for.
  void delay(const Value &rounds);

  /// The text; nothing can be added then.
  std::string finish();

private:
  Value two(const std::string &op, const Value &x, const Value &y);
  Value fresh() { return "%v" + std::to_string(next++); }
  /// Stage, row and column of a tile's element number `index`.
  Values place(const Tile &type, const Value &index);

  std::string text, indent = "  ";
  int64_t next = 0;
};

/// An array of i32 in shared memory.
class Words {
public:
  Words(KernelText &k, int64_t count, int64_t at)
      : k(k), name(k.sharedArray("i32", count, at)),
        type(" : !kernel.shared<i32, " + std::to_string(count) + ">") {}

  Value load(const Value &index) {
    return k.define("kernel.shared_load " + name + "[" + index + "]" + type +
                    " -> i32");
  }
  void store(const Value &index, const Value &value) {
    k.line("kernel.shared_store " + name + "[" + index + "], " + value + type +
           ", i32");
  }

private:
  KernelText &k;
  Value name;
  std::string type;
};

} // namespace azulejo::gputest

#endif // AZULEJO_TESTS_GPU_INSTRUCTIONS_KERNELTEXT_H
