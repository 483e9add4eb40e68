//===- Neighbour.cpp - other work on the same device ----------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/conformance/Neighbour.h"

#include "ir/reference/Evaluate.h"
#include "tests/gpu/CudaDriver.h"

namespace azulejo::conformance {

Neighbour::~Neighbour() { (void)TestDevice::current().synchronize(); }

Status Neighbour::add(const Sketch &sketch, const Options &options) {
  const TestDevice &device = TestDevice::current();
  if (!stream) {
    Result<void *> made = device.cuda()->createStream();
    if (!made)
      return made.error();
    stream = *made;
  }
  const graph::Graph &graph = sketch.graph();
  Work work;
  Result<std::unique_ptr<Subject>> subject = Subject::compile(graph, options);
  if (!subject)
    return subject.error();
  work.subject = *std::move(subject);
  std::vector<ValueId> values = graph.inputs();
  for (const graph::Output &output : graph.outputs())
    values.push_back(output.value);
  for (ValueId value : values) {
    const graph::TensorType &type = graph.type(value);
    Result<Ints> shape = reference::concreteShape(type.shape, {}, "neighbour");
    if (!shape)
      return shape.error();
    int64_t bytes = dtypeBytes(type.dtype);
    for (int64_t extent : *shape)
      bytes *= extent;
    work.memory.emplace_back(device, static_cast<size_t>(bytes), 0);
    if (Status status = work.memory.back().upload(); !status)
      return status;
    az_tensor tensor{};
    tensor.size = sizeof tensor;
    tensor.data = work.memory.back().address();
    tensor.dtype = static_cast<decltype(tensor.dtype)>(type.dtype);
    tensor.rank = static_cast<int32_t>(shape->size());
    work.tensors.push_back(tensor);
    work.strides.push_back(reference::denseStrides(*shape));
    work.shapes.push_back(*std::move(shape));
  }
  for (size_t i = 0; i < work.tensors.size(); ++i) {
    work.tensors[i].shape = work.shapes[i].data();
    work.tensors[i].strides = work.strides[i].data();
  }
  works.push_back(std::move(work));
  return {};
}

Status Neighbour::start() {
  for (int left = turn++ % 5; left >= 0; --left)
    for (const Work &work : works)
      if (Status status = work.subject->start(work.tensors, stream); !status)
        return status;
  return {};
}

} // namespace azulejo::conformance
