//===- RandomTape.cpp - tapes drawn and shrunk by RapidCheck --------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/conformance/RandomTape.h"

#include <rapidcheck.h>

#include <bit>
#include <chrono>
#include <set>

namespace azulejo::conformance {
namespace {

/// A graph reads some 73 choices, the largest of 20,000 read 180.
constexpr size_t kTapeLength = 400;
constexpr uint32_t kChoices = 1u << 31; // many times any number of alternatives

Tape without(const Tape &tape, size_t begin, size_t end) {
  Tape rest(tape.begin(), tape.begin() + static_cast<ptrdiff_t>(begin));
  rest.insert(rest.end(), tape.begin() + static_cast<ptrdiff_t>(end),
              tape.end());
  return rest;
}

/// Simpler tapes, those that are likely to be simplest first. Chunks are steps
/// of the graph: cut anywhere else, the choices behind would mean other things.
rc::Seq<Tape> simplerTapes(const Tape &given) {
  Result<RandomGraph> made = makeRandomGraph(given);
  if (!made)
    return {};
  const Tape &tape = made->tape;
  const std::vector<size_t> &steps = made->steps;
  std::vector<Tape> fewer;
  // The first step is how many ops there are to be, the last entry an end.
  size_t count = steps.size() - 2;
  for (size_t length = std::bit_floor(count); length; length /= 2)
    for (size_t first = 1; first <= count; first += length)
      fewer.push_back(without(tape, steps[first],
                              steps[std::min(first + length, count + 1)]));
  if (tape.size() > made->attention && tape[made->attention]) {
    fewer.push_back(without(tape, made->attention + 1, steps[0]));
    fewer.back()[made->attention] = 0;
  }
  return rc::seq::concat(
      rc::seq::fromContainer(std::move(fewer)),
      rc::shrink::eachElement(tape, rc::shrink::integral<uint32_t>));
}

rc::Gen<Tape> tapes() {
  rc::Gen<Tape> choices = rc::gen::container<Tape>(
      kTapeLength, rc::gen::inRange<uint32_t>(0, kChoices));
  return [=](const rc::Random &random, int size) {
    return rc::shrinkable::shrinkRecur(choices(random, size).value(),
                                       &simplerTapes);
  };
}

/// What makes two graphs the same to whoever looks for a simpler one: the
/// elements of their tensors are not part of it.
std::string keyOf(const RandomGraph &made) {
  std::string key = made.graph.canonical();
  for (const auto &[name, value] : made.dims)
    key += name + "=" + std::to_string(value) + " ";
  return key;
}

} // namespace

Tape drawTape(uint64_t seed) {
  return tapes()(rc::Random(seed), rc::kNominalSize).value();
}

Shrunk shrinkGraph(RandomGraph failing,
                   const std::function<bool(const RandomGraph &)> &fails,
                   const ShrinkBudget &budget) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  std::set<std::string> tried{keyOf(failing)};
  Shrunk best;
  best.graph = std::move(failing);
  // Those before the one that was taken last failed to fail a moment ago, and
  // are looked at again at the end.
  size_t skipped = 0;
  while (true) {
    rc::Seq<rc::Shrinkable<Tape>> simpler =
        rc::shrinkable::shrinkRecur(best.graph.tape, &simplerTapes).shrinks();
    bool found = false;
    for (size_t position = 0; !found; ++position) {
      rc::Maybe<rc::Shrinkable<Tape>> next = simpler.next();
      if (!next)
        break;
      if (position < skipped)
        continue;
      Result<RandomGraph> made = makeRandomGraph(next->value());
      if (!made || !tried.insert(keyOf(*made)).second)
        continue;
      best.seconds =
          std::chrono::duration<double>(Clock::now() - start).count();
      if (best.tries == budget.tries || best.seconds > budget.seconds)
        return best;
      ++best.tries;
      if (!fails(*made))
        continue;
      best.graph = std::move(*made);
      skipped = position;
      found = true;
    }
    if (found)
      continue;
    best.smallest = skipped == 0;
    if (best.smallest)
      return best;
    skipped = 0;
  }
}

std::string spelled(const Tape &tape) {
  std::string text = "{";
  for (uint32_t choice : tape)
    text += (text.size() > 1 ? ", " : "") + std::to_string(choice);
  return text + "}";
}

} // namespace azulejo::conformance
