//===- GuardedBuffer.h - memory between two redzones ------------*- C++ -*-===//
//
//   | redzone | data: exactly `bytes` | redzone |
//
// After poison() the data holds bytes of ones: NaN in every float type, -1 in
// every integer type. Redzones of inputs hold the same, so that whoever reads
// there computes NaN. Redzones of what is written hold another byte (0x7f: NaN
// or huge): a kernel that reads too far and writes too far would put NaN on
// NaN there, and nothing would show.
//
// The second redzone begins at the very byte after the data, so that one byte
// too far is seen. Data is 64-byte aligned. Memory comes from the system
// directly; a refusal is an Error.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_AUTOTUNE_MEASURE_GUARDEDBUFFER_H
#define AZULEJO_AUTOTUNE_MEASURE_GUARDEDBUFFER_H

#include "azulejo/Error.h"

#include <cstdint>
#include <optional>

namespace azulejo::measure {

inline constexpr int64_t kDefaultRedzoneBytes = int64_t(1) << 20;
inline constexpr unsigned char kPoison = 0xff;
inline constexpr unsigned char kWrittenRedzone = 0x7f;

class GuardedBuffer {
public:
  static Result<GuardedBuffer> make(int64_t bytes, int64_t redzoneBytes,
                                    unsigned char pattern = kPoison);

  GuardedBuffer(GuardedBuffer &&other) noexcept;
  GuardedBuffer &operator=(GuardedBuffer &&other) noexcept;
  ~GuardedBuffer();

  char *data() const { return start; }
  int64_t bytes() const { return size; }

  /// Fills the data with ones.
  void poison();
  /// The offset from data() of the damaged redzone byte nearest to the data
  /// (negative: before it), or nothing. Damage is healed.
  std::optional<int64_t> takeDamage();

private:
  GuardedBuffer() = default;
  char *mapping = nullptr, *start = nullptr;
  int64_t mappedBytes = 0, size = 0, redzone = 0;
  unsigned char pattern = kPoison; ///< of the redzones
};

} // namespace azulejo::measure

#endif // AZULEJO_AUTOTUNE_MEASURE_GUARDEDBUFFER_H
