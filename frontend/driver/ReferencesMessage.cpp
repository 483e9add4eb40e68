//===- ReferencesMessage.cpp - references from worker to worker -----------===//
//
//   blob   plan | tensors of case 0: inputs, oracle, plain | of case 1 | ...
//
// The JSON says how many bytes the plan has, and type and shape of each tensor.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/WorkerProtocol.h"

#include <cstring>

namespace azulejo::driver {

namespace json = llvm::json;
using reference::HostTensor;

static json::Array append(const std::vector<HostTensor> &tensors,
                          std::string &blob) {
  json::Array list;
  for (const HostTensor &tensor : tensors) {
    json::Array shape;
    for (int64_t size : tensor.shape)
      shape.push_back(size);
    list.push_back(json::Object{{"dtype", std::string(dtypeName(tensor.dtype))},
                                {"shape", std::move(shape)}});
    blob.append(reinterpret_cast<const char *>(tensor.bytes.data()),
                tensor.bytes.size());
  }
  return list;
}

static int64_t bytesOf(const std::vector<HostTensor> &tensors) {
  int64_t bytes = 0;
  for (const HostTensor &tensor : tensors)
    bytes += static_cast<int64_t>(tensor.bytes.size());
  return bytes;
}

Message toMessage(const References &references) {
  int64_t bytes = static_cast<int64_t>(references.unfusedPlan.size());
  for (const OracleCase &one : references.cases)
    bytes += bytesOf(one.inputs) + bytesOf(one.oracle) + bytesOf(one.plain);
  bool carries = references.hasCases && bytes <= kMaxFrameBytes;
  Message message{
      json::Object{
          {"planBytes", static_cast<int64_t>(references.unfusedPlan.size())},
          {"noPlan", json::fixUTF8(references.noPlan)},
          {"hasCases", carries}},
      references.unfusedPlan};
  json::Array cases;
  for (const OracleCase &one : references.cases) {
    if (!carries)
      break;
    json::Object sizes;
    for (const auto &[name, size] : one.sizes)
      sizes[name] = size;
    json::Object row{{"sizes", std::move(sizes)}};
    if (one.exactSeed)
      row["exactSeed"] = static_cast<int64_t>(*one.exactSeed);
    row["inputs"] = append(one.inputs, message.blob);
    row["oracle"] = append(one.oracle, message.blob);
    row["plain"] = append(one.plain, message.blob);
    cases.push_back(std::move(row));
  }
  message.json["cases"] = std::move(cases);
  return message;
}

/// The next tensors of the blob, which is cut off where they end.
static bool take(const json::Object &row, const char *name,
                 std::string_view &blob, std::vector<HostTensor> &into) {
  const json::Array *list = row.getArray(name);
  if (!list)
    return false;
  for (const json::Value &value : *list) {
    const json::Object *described = value.getAsObject();
    const json::Array *shape =
        described ? described->getArray("shape") : nullptr;
    auto text = described ? described->getString("dtype") : std::nullopt;
    auto dtype = text ? parseDType(std::string_view(*text)) : std::nullopt;
    if (!shape || !dtype)
      return false;
    std::vector<int64_t> sizes;
    auto room = static_cast<int64_t>(blob.size());
    int64_t bytes = dtypeBytes(*dtype);
    for (const json::Value &size : *shape) {
      auto number = size.getAsInteger();
      // Neither may the product of many sizes overflow.
      if (!number || *number < 0 || (*number > 0 && bytes > room / *number))
        return false;
      bytes *= *number;
      sizes.push_back(*number);
    }
    if (bytes > room)
      return false;
    HostTensor tensor = HostTensor::dense(*dtype, std::move(sizes));
    std::memcpy(tensor.bytes.data(), blob.data(), tensor.bytes.size());
    blob.remove_prefix(tensor.bytes.size());
    into.push_back(std::move(tensor));
  }
  return true;
}

std::optional<References> referencesFrom(const Message &message) {
  const json::Object &from = message.json;
  auto planBytes = from.getInteger("planBytes");
  auto noPlan = from.getString("noPlan");
  auto hasCases = from.getBoolean("hasCases");
  const json::Array *cases = from.getArray("cases");
  std::string_view blob = message.blob;
  if (!planBytes || !noPlan || !hasCases || !cases || *planBytes < 0 ||
      *planBytes > static_cast<int64_t>(blob.size()))
    return std::nullopt;
  References references;
  references.unfusedPlan = blob.substr(0, static_cast<size_t>(*planBytes));
  blob.remove_prefix(static_cast<size_t>(*planBytes));
  references.noPlan = noPlan->str();
  references.hasCases = *hasCases;
  for (const json::Value &value : *cases) {
    const json::Object *row = value.getAsObject();
    const json::Object *sizes = row ? row->getObject("sizes") : nullptr;
    if (!sizes)
      return std::nullopt;
    OracleCase one;
    for (const auto &[name, size] : *sizes) {
      auto number = size.getAsInteger();
      if (!number)
        return std::nullopt;
      one.sizes[name.str()] = *number;
    }
    if (auto seed = row->getInteger("exactSeed"))
      one.exactSeed = static_cast<uint64_t>(*seed);
    if (!take(*row, "inputs", blob, one.inputs) ||
        !take(*row, "oracle", blob, one.oracle) ||
        !take(*row, "plain", blob, one.plain))
      return std::nullopt;
    references.cases.push_back(std::move(one));
  }
  return references;
}

} // namespace azulejo::driver
