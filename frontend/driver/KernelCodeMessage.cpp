//===- KernelCodeMessage.cpp - a region's code as JSON and bytes ----------===//
//
//   blob   image | images of later kernels | the same of the general form
//
// Each object says how many bytes of the blob are its image's. Between worker
// and tuner and in entries of the cache code looks the same.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/WorkerProtocol.h"

namespace azulejo::driver {

namespace json = llvm::json;

static bool readStrings(const json::Object &from, const char *name,
                        std::vector<std::string> &into) {
  const json::Array *array = from.getArray(name);
  if (!array)
    return false;
  for (const json::Value &value : *array) {
    auto text = value.getAsString();
    if (!text)
      return false;
    into.push_back(text->str());
  }
  return true;
}

json::Object toJson(const codegen::AssemblyReport &report) {
  json::Array warnings;
  for (const std::string &warning : report.warnings)
    warnings.push_back(json::fixUTF8(warning));
  return json::Object{{"registers", report.registers},
                      {"stack_bytes", report.stackBytes},
                      {"spill_store_bytes", report.spillStoreBytes},
                      {"spill_load_bytes", report.spillLoadBytes},
                      {"shared_bytes", report.sharedBytes},
                      {"warnings", std::move(warnings)}};
}

static std::optional<codegen::AssemblyReport>
reportFrom(const json::Object &from) {
  codegen::AssemblyReport report;
  std::pair<const char *, int64_t *> numbers[] = {
      {"registers", &report.registers},
      {"stack_bytes", &report.stackBytes},
      {"spill_store_bytes", &report.spillStoreBytes},
      {"spill_load_bytes", &report.spillLoadBytes},
      {"shared_bytes", &report.sharedBytes}};
  for (auto [name, slot] : numbers) {
    auto value = from.getInteger(name);
    if (!value || *value < 0)
      return std::nullopt;
    *slot = *value;
  }
  if (!readStrings(from, "warnings", report.warnings))
    return std::nullopt;
  return report;
}

static json::Object toJson(const ViewMap &map) {
  return json::Object{{"view", map.view},
                      {"merged", json::Array(map.merged)},
                      {"box", json::Array(map.box)},
                      {"swizzle", map.swizzle}};
}

static json::Object toJson(const KernelCode &code) {
  json::Array tensorMaps;
  for (const ViewMap &map : code.tensorMaps)
    tensorMaps.push_back(toJson(map));
  json::Array intermediates;
  for (const Intermediate &tensor : code.intermediates)
    intermediates.push_back(
        json::Object{{"dtype", std::string(dtypeName(tensor.dtype))},
                     {"extents", json::Array(tensor.extents)}});
  return json::Object{{"family", code.family},
                      {"schedule", code.schedule.str()},
                      {"imageKind", code.imageKind},
                      {"imageBytes", static_cast<int64_t>(code.image.size())},
                      {"entryOffset", code.entryOffset},
                      {"entry", code.entry},
                      {"blockThreads", code.blockThreads},
                      {"assembler", code.assembler},
                      {"assembly", toJson(code.assembly)},
                      {"scratchBytes", code.scratchBytes},
                      {"symbols", json::Array(code.symbols)},
                      {"gridExtents", json::Array(code.gridExtents)},
                      {"gridTiles", json::Array(code.gridTiles)},
                      {"mostBlocks", code.mostBlocks},
                      {"clusterBlocks", code.clusterBlocks},
                      {"takesCounter", code.takesCounter},
                      {"tensors", json::Array(code.tensors)},
                      {"alignedViews", json::Array(code.alignedViews)},
                      {"tensorMaps", std::move(tensorMaps)},
                      {"intermediates", std::move(intermediates)}};
}

static json::Array append(const std::vector<KernelCode> &codes,
                          std::string &blob);

static json::Object append(const KernelCode &code, std::string &blob) {
  blob += code.image;
  json::Object object = toJson(code);
  object["later"] = append(code.later, blob);
  object["general"] = append(code.general, blob);
  if (code.note)
    object["note"] = json::Object{{"rule", json::fixUTF8(code.note->rule)},
                                  {"text", json::fixUTF8(code.note->text)},
                                  {"level", code.note->level}};
  return object;
}

static json::Array append(const std::vector<KernelCode> &codes,
                          std::string &blob) {
  json::Array list;
  for (const KernelCode &code : codes)
    list.push_back(append(code, blob));
  return list;
}

Message toMessage(const KernelCode &code) {
  Message message;
  message.json = append(code, message.blob);
  return message;
}

static bool readNumbers(const json::Object &from, const char *name,
                        int64_t least, std::vector<int64_t> &to) {
  const json::Array *list = from.getArray(name);
  if (!list)
    return false;
  for (const json::Value &item : *list) {
    auto value = item.getAsInteger();
    if (!value || *value < least)
      return false;
    to.push_back(*value);
  }
  return true;
}

/// Whether there is a list of objects by this name and `read` takes each.
static bool readEach(const json::Object &from, const char *name,
                     llvm::function_ref<bool(const json::Object &)> read) {
  const json::Array *list = from.getArray(name);
  return list && llvm::all_of(*list, [&](const json::Value &item) {
           const json::Object *object = item.getAsObject();
           return object && read(*object);
         });
}

static bool readIntermediates(const json::Object &from, KernelCode &code) {
  return readEach(from, "intermediates", [&](const json::Object &tensor) {
    auto name = tensor.getString("dtype");
    auto dtype = name ? parseDType(*name) : std::nullopt;
    Intermediate &made = code.intermediates.emplace_back();
    if (!dtype || !readStrings(tensor, "extents", made.extents))
      return false;
    made.dtype = *dtype;
    return true;
  });
}

/// Numbers that do not fit a plan are refused; what else holds of a map, the
/// plan's validation finds.
static bool readTensorMaps(const json::Object &from, KernelCode &code) {
  return readEach(from, "tensorMaps", [&](const json::Object &map) {
    auto view = map.getInteger("view"), swizzle = map.getInteger("swizzle");
    ViewMap &made = code.tensorMaps.emplace_back();
    if (!view || *view < 0 || !swizzle ||
        !readNumbers(map, "merged", 1, made.merged) ||
        !readNumbers(map, "box", 1, made.box))
      return false;
    made.view = *view;
    made.swizzle = *swizzle;
    auto fits = [](int64_t number) { return number <= INT32_MAX; };
    return fits(made.swizzle) && made.swizzle >= 1 &&
           llvm::all_of(made.merged, fits) && llvm::all_of(made.box, fits);
  });
}

/// Takes the image off the front of `blob`.
static std::optional<KernelCode> kernelFrom(const json::Object &from,
                                            llvm::StringRef &blob) {
  KernelCode code;
  auto family = from.getString("family");
  auto text = from.getString("schedule");
  auto kind = from.getString("imageKind");
  auto bytes = from.getInteger("imageBytes");
  auto entry = from.getInteger("entryOffset");
  auto function = from.getString("entry");
  auto block = from.getInteger("blockThreads");
  auto scratch = from.getInteger("scratchBytes");
  auto assembler = from.getString("assembler");
  auto blocks = from.getInteger("mostBlocks");
  auto cluster = from.getInteger("clusterBlocks");
  auto counter = from.getBoolean("takesCounter");
  const json::Object *assembly = from.getObject("assembly");
  if (!assembler || !assembly || !blocks || *blocks < 0 || !cluster ||
      *cluster < 1 || !counter)
    return std::nullopt;
  auto report = reportFrom(*assembly);
  if (!report || !family || !text || !kind || !bytes || !entry || !function ||
      !block || !scratch || !readStrings(from, "symbols", code.symbols) ||
      !readStrings(from, "gridExtents", code.gridExtents) ||
      !readNumbers(from, "gridTiles", 1, code.gridTiles) ||
      !readNumbers(from, "tensors", 0, code.tensors) ||
      !readNumbers(from, "alignedViews", 0, code.alignedViews) ||
      !readTensorMaps(from, code) || !readIntermediates(from, code))
    return std::nullopt;
  Result<schedule::Schedule> parsed = schedule::Schedule::parse(
      *text, *kind == "cpu-flat" ? target::Kind::Cpu : target::Kind::Gpu);
  if (!parsed || code.gridTiles.size() != code.gridExtents.size() ||
      (*cluster > 1 && code.gridTiles.size() < 2) || *bytes < 0 ||
      static_cast<size_t>(*bytes) > blob.size())
    return std::nullopt;
  code.family = family->str();
  code.schedule = std::move(*parsed);
  code.imageKind = kind->str();
  code.entryOffset = *entry;
  code.entry = function->str();
  code.blockThreads = *block;
  code.scratchBytes = *scratch;
  code.mostBlocks = *blocks;
  code.clusterBlocks = *cluster;
  code.takesCounter = *counter;
  code.assembler = assembler->str();
  code.assembly = std::move(*report);
  code.image = blob.take_front(static_cast<size_t>(*bytes)).str();
  blob = blob.drop_front(static_cast<size_t>(*bytes));
  return code;
}

static bool readNote(const json::Object &from, KernelCode &code) {
  const json::Object *note = from.getObject("note");
  if (!note)
    return !from.get("note");
  auto rule = note->getString("rule"), text = note->getString("text");
  auto level = note->getInteger("level");
  if (!rule || !text || !level || *level < 1 || *level > 2)
    return false;
  code.note = ScheduleNote{rule->str(), text->str(), *level};
  return true;
}

/// Where a kernel stands: first, after others, or as a form of either.
enum class Place { First, Later, General };

static std::optional<KernelCode> codeFrom(const json::Object &from,
                                          llvm::StringRef &blob, Place place);

static bool readCodes(const json::Object &from, const char *name,
                      llvm::StringRef &blob, Place place, size_t most,
                      std::vector<KernelCode> &into) {
  return readEach(from, name, [&](const json::Object &object) {
    std::optional<KernelCode> code =
        into.size() < most ? codeFrom(object, blob, place) : std::nullopt;
    if (code)
      into.push_back(*std::move(code));
    return code.has_value();
  });
}

static std::optional<KernelCode> codeFrom(const json::Object &from,
                                          llvm::StringRef &blob, Place place) {
  std::optional<KernelCode> code = kernelFrom(from, blob);
  size_t mostLater = place == Place::First ? SIZE_MAX : 0,
         mostGeneral = place == Place::General ? 0 : 1;
  if (!code || !readNote(from, *code) ||
      !readCodes(from, "later", blob, Place::Later, mostLater, code->later) ||
      !readCodes(from, "general", blob, Place::General, mostGeneral,
                 code->general))
    return std::nullopt;
  return code;
}

std::optional<KernelCode> codeFrom(const Message &message) {
  llvm::StringRef blob = message.blob;
  std::optional<KernelCode> code = codeFrom(message.json, blob, Place::First);
  if (!blob.empty())
    return std::nullopt;
  return code;
}

} // namespace azulejo::driver
