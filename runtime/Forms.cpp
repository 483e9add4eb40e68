//===- Forms.cpp - which form of a launch runs ----------------------------===//
//
// A launch may assume alignment and tensor maps. For tensors that are not so
// it has a general form, which is right for all of them, or none:
//
//                  fits   does not fit
//   general form   fast   general, and the log says so once
//   none           fast   the run is refused before anything is launched
//
// A strict plan has no general forms: who asked for one would rather have an
// error than a kernel that is slower than the one that was measured.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "runtime/Executable.h"
#include "runtime/Log.h"
#include "runtime/Variants.h"

#include <algorithm>

namespace azulejo::runtime {

/// Whether a kernel that assumes alignment may be given this buffer: what is
/// tested are the numbers that it would get, so it holds for whatever address
/// it computes from them.
bool Executable::isAligned(int32_t buffer, const Tables &tables) const {
  const plan::Buffer &what = thePlan.buffers[buffer];
  int64_t own[plan::kMaxRank], bits = 0;
  const int64_t *strides = placed(buffer, tables, bits, own);
  if (!strides)
    return false;
  auto elementBytes = static_cast<uint64_t>(dtypeBytes(what.dtype));
  // Wrapping keeps the low bits, which are all that matters.
  for (size_t axis = 0; axis + 1 < what.shape.size(); ++axis)
    bits |= static_cast<int64_t>(static_cast<uint64_t>(strides[axis]) *
                                 elementBytes);
  return bits % plan::kAlignedBytes == 0;
}

/// The first buffer of a launch that is not as aligned as it assumes; else -1.
int32_t Executable::unaligned(const plan::Launch &launch,
                              const Tables &tables) const {
  auto found = std::find_if(launch.aligned.begin(), launch.aligned.end(),
                            [&](int32_t b) { return !isAligned(b, tables); });
  return found == launch.aligned.end() ? -1 : *found;
}

/// A buffer of any kind that a kernel cannot take: by its name, if it has one.
Error Executable::bufferError(int32_t index, std::string message,
                              const char *rule, const char *hint) const {
  bool bound = static_cast<size_t>(index) < bindings;
  std::string advice = bound ? hint : "run with other dimensions";
  if (thePlan.isStrict())
    advice += "; the plan is strict: compiled without that, it has a slower "
              "form for such tensors";
  if (bound)
    return bindingError(static_cast<size_t>(index), std::move(message), rule,
                        std::move(advice));
  return makeError(ErrorCode::InvalidArgument,
                   "workspace buffer " + std::to_string(index),
                   std::move(message), rule, std::move(advice));
}

Error Executable::alignmentError(const plan::Launch &launch,
                                 int32_t buffer) const {
  return bufferError(buffer,
                     "its address or one of its outer strides is not a "
                     "multiple of " +
                         std::to_string(plan::kAlignedBytes) +
                         " bytes, which kernel '" + launch.kernel + "' needs",
                     "run.alignment", "copy it to aligned memory");
}

/// For launches without a general form, and before anything is launched.
Status Executable::checkAligned(const Tables &tables) const {
  return eachLaunch(tables, [&](size_t index) -> Status {
    const plan::Launch &launch = thePlan.launches[index];
    if (launch.otherwise >= 0)
      return {};
    int32_t buffer = unaligned(launch, tables);
    return buffer < 0 ? Status() : alignmentError(launch, buffer);
  });
}

/// Replaces a launch by its general form if what it assumes does not hold; else
/// makes its tensor maps. A launch of nothing needs none. False if there is no
/// form to run: the grid is negative, or a map cannot be made.
bool Executable::pickForm(const plan::Launch *&launch, LaunchCall &call,
                          const Tables &tables) const {
  int32_t otherwise = launch->otherwise;
  // Without a general form that was checked for all launches together.
  if (otherwise < 0 || unaligned(*launch, tables) < 0) {
    call.grid = gridOf(*launch, tables);
    if (call.grid <= 0 || makeMaps(*launch, tables))
      return call.grid >= 0;
    if (otherwise < 0)
      return false;
  }
  launch = &thePlan.alternates[otherwise];
  call.entry = alternates[otherwise];
  call.grid = gridOf(*launch, tables);
  return call.grid >= 0;
}

/// Once per launch: that a run takes its general form, and why. Costs a run
/// nothing but a look at the level while nobody listens.
void Executable::sayGeneral(size_t index, const Tables &tables) const {
  if (!isLogged(LogLevel::Info) ||
      saidGeneral[index].exchange(true, std::memory_order_relaxed))
    return;
  const plan::Launch &launch = thePlan.launches[index];
  int32_t buffer = unaligned(launch, tables);
  Error why =
      buffer >= 0 ? alignmentError(launch, buffer) : mapError(launch, tables);
  log(LogLevel::Info, why.where + ": " + why.message +
                          "; its general form runs, now and whenever this is "
                          "so");
}

} // namespace azulejo::runtime
