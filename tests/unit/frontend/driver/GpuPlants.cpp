//===- GpuPlants.cpp - good GPU candidates made bad -----------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "GpuPlants.h"

#include <gtest/gtest.h>

namespace azulejo::test {

GpuOutcome outcomeOf(GpuPlant plant) {
  switch (plant) {
  case GpuPlant::Illegal:
    return {"illegal", "crashed", "700"};
  case GpuPlant::Trap:
    return {"trap", "crashed", "("};
  case GpuPlant::Endless:
    return {"endless", "timeout", "did not end"};
  case GpuPlant::Nothing:
    return {"nothing", "wrong", "output 0"};
  case GpuPlant::Wrong:
    return {"wrong", "wrong", "output 0"};
  case GpuPlant::Over:
    return {"over", "wrong", "0 bytes past the end"};
  case GpuPlant::Under:
    return {"under", "wrong", "1 bytes before the start"};
  case GpuPlant::Input:
    return {"input", "wrong", "put 0"}; // other threads may read what it wrote
  case GpuPlant::Bit:
    return {"bit", "wrong", "[candidate.exact]"};
  }
  return {};
}

static void replaceAll(std::string &text, const std::string &from,
                       const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       at += to.size())
    text.replace(at, from.size(), to);
}

/// PTX that ends with the address in %azPlace: `base`, a parameter, plus the
/// bytes of the tensor where `atEnd`, plus `offset`.
static std::string place(const std::string &entry, int base, bool atEnd,
                         int offset) {
  auto load = [&](const char *name, int parameter) {
    return "ld.param.b64 " + std::string(name) + ", [" + entry + "_param_" +
           std::to_string(parameter) + "]; ";
  };
  std::string text = load("%azPlace", base);
  if (atEnd)
    text += load("%azRows", 4) + load("%azStride", 3) +
            "mul.lo.s64 %azRows, %azRows, %azStride; "
            "shl.b64 %azRows, %azRows, 2; "
            "add.s64 %azPlace, %azPlace, %azRows; ";
  return text + "add.s64 %azPlace, %azPlace, " + std::to_string(offset) + "; ";
}

static std::string commentOf(GpuPlant what) {
  switch (what) {
  case GpuPlant::Illegal:
    return "// mock trap=700\n";
  case GpuPlant::Trap:
    return "// mock trap=719\n";
  default:
    return std::string("// mock ") + outcomeOf(what).name + "\n";
  }
}

void plant(driver::KernelCode &code, GpuPlant what) {
  ASSERT_EQ(code.imageKind, "ptx");
  std::string &text = code.image;
  size_t entry = text.find(".entry " + code.entry);
  size_t body = text.find("\n{", entry);
  ASSERT_NE(body, std::string::npos) << text;
  std::string first, last;
  const std::string zero = "st.global.u8 [%azPlace], 0; ";
  const std::string one = "st.global.u32 [%azPlace], 0x3f9d70a4; ";
  switch (what) {
  case GpuPlant::Illegal:
    first = "mov.b64 %azPlace, 64; " + one;
    break;
  case GpuPlant::Trap:
    first = "trap; ";
    break;
  case GpuPlant::Endless:
    first = "AzEndless: bra.uni AzEndless; ";
    break;
  case GpuPlant::Nothing:
    first = "ret; ";
    break;
  case GpuPlant::Wrong:
    last = place(code.entry, 2, true, -4) + one;
    break;
  case GpuPlant::Over:
    last = place(code.entry, 2, true, 0) + zero;
    break;
  case GpuPlant::Under:
    last = place(code.entry, 2, false, -1) + zero;
    break;
  case GpuPlant::Input:
    last = place(code.entry, 0, true, -4) + one;
    break;
  case GpuPlant::Bit:
    // Every thread stores the same: twice the input, but for that bit.
    last = place(code.entry, 0, true, -4) +
           "ld.global.f32 %azFloat, [%azPlace]; "
           "add.f32 %azFloat, %azFloat, %azFloat; "
           "mov.b32 %azWord, %azFloat; xor.b32 %azWord, %azWord, 1; " +
           place(code.entry, 2, true, -4) +
           "st.global.u32 [%azPlace], %azWord; ";
    break;
  }
  std::string tail = text.substr(body + 2);
  replaceAll(tail, "ret;", last + "ret;");
  text = commentOf(what) + text.substr(0, body + 2) +
         "\n.reg .b64 %azPlace, %azRows, %azStride;\n"
         ".reg .b32 %azWord;\n.reg .f32 %azFloat;\n" +
         first + tail;
}

void plantDuration(driver::KernelCode &code, int microseconds) {
  code.image = "// mock us=" + std::to_string(microseconds) + "\n" + code.image;
}

} // namespace azulejo::test
