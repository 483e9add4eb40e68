//===- PlantedCode.h - good candidates made bad -----------------*- C++ -*-===//
//
// Each function changes a kernel's image so that it misbehaves in one way. The
// good code stays in the image; a few bytes of x86-64 behind it become the new
// entry point. Arguments of an entry: rdi args, rsi begin, rdx end, rcx
// scratch (runtime/plan/Plan.h).
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_UNIT_FRONTEND_DRIVER_PLANTEDCODE_H
#define AZULEJO_TESTS_UNIT_FRONTEND_DRIVER_PLANTEDCODE_H

#include "frontend/driver/KernelCompiler.h"

namespace azulejo::test {

enum class Plant {
  Null,         ///< reads address 0
  Trap,         ///< an illegal instruction
  Loop,         ///< never returns
  Nothing,      ///< writes no output at all
  Half,         ///< leaves out the second half of the items
  OneByteUnder, ///< also writes one byte before the output
  OneByteOver,  ///< also writes one byte after the output
  Wrong,        ///< spoils one element of the output
  WritesInput,  ///< spoils the first byte of the first input
  WrongIfLarge, ///< as Wrong, with more rows than the oracle sees (50)
  Unsteady,     ///< flips last bits of the output as the clock has it
  Memory,       ///< asks for memory until it gets none, and uses that
  Stack,        ///< recurses without end
  LastBit,      ///< sets the last bit of the first element of the output
};
/// All that are found in every region; an exact test has to find the last bit.
inline constexpr Plant kAllPlants[] = {
    Plant::Null,         Plant::Trap,         Plant::Loop,
    Plant::Half,         Plant::Nothing,      Plant::OneByteOver,
    Plant::Wrong,        Plant::OneByteUnder, Plant::WritesInput,
    Plant::WrongIfLarge, Plant::Unsteady,     Plant::Memory,
    Plant::Stack};

const char *plantName(Plant plant);

/// `outputArg` and `inputArg` are the places of their addresses in the list of
/// arguments; `rowsArg` that of a Size argument, so that the output has
/// args[rowsArg] * rowBytes bytes.
void plant(driver::KernelCode &code, Plant what, int outputArg, int inputArg,
           int rowsArg, int32_t rowBytes);

} // namespace azulejo::test

#endif // AZULEJO_TESTS_UNIT_FRONTEND_DRIVER_PLANTEDCODE_H
