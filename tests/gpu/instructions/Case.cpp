//===- Case.cpp - one kernel that proves an instruction -------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/gpu/instructions/Case.h"

#include "ir/reference/Float.h"

#include <algorithm>
#include <cstring>

namespace azulejo::gputest {

double Array::at(const Bytes &bytes, int64_t element) const {
  int64_t size = dtypeBytes(dtype);
  uint32_t bits = 0;
  std::memcpy(&bits, bytes.data() + element * size, size);
  if (isFloat(dtype))
    return reference::decode(dtype, bits);
  return dtype == DType::I8 ? static_cast<int8_t>(bits)
                            : static_cast<int32_t>(bits);
}

void Array::set(Bytes &bytes, int64_t element, double value) const {
  int64_t size = dtypeBytes(dtype);
  uint32_t bits = isFloat(dtype)
                      ? reference::encode(dtype, value)
                      : static_cast<uint32_t>(static_cast<int32_t>(value));
  std::memcpy(bytes.data() + element * size, &bits, size);
}

Bytes Array::filled(double value) const {
  Bytes bytes(count * dtypeBytes(dtype));
  for (int64_t i = 0; i < count; ++i)
    set(bytes, i, value);
  return bytes;
}

Bytes Array::of(const std::vector<double> &values) const {
  Bytes bytes(count * dtypeBytes(dtype));
  for (int64_t i = 0; i < count; ++i)
    set(bytes, i, values[i]);
  return bytes;
}

std::vector<MapSpec::Axis> MapSpec::axes() const {
  std::vector<Axis> axes;
  size_t left = sizes.size(); // of the view, which counts from outside
  for (int64_t count : merged) {
    Axis axis{1, 0};
    for (int64_t i = 0; i < count; ++i) {
      if (left-- == 0)
        return {};
      if (i == 0)
        axis.stride = strides[left];
      else if (strides[left] != axis.stride * axis.size)
        return {};
      axis.size *= sizes[left];
    }
    axes.push_back(axis);
  }
  if (left != 0)
    axes.clear();
  return axes;
}

std::string Case::entry() const {
  std::string symbol = name;
  std::replace(symbol.begin(), symbol.end(), '.', '_');
  return symbol;
}

std::vector<Case> instructionCases() {
  std::vector<Case> cases;
  addProductCases(cases);
  addBulkCases(cases);
  addPhaseCases(cases);
  addCounterCases(cases);
  addGroupCases(cases);
  addChainCases(cases);
  addClusterCases(cases);
  return cases;
}

} // namespace azulejo::gputest
