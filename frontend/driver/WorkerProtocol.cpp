//===- WorkerProtocol.cpp - what tuner and worker say to each other -------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/WorkerProtocol.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cmath>
#include <poll.h>
#include <sys/socket.h>

namespace azulejo::driver {

namespace json = llvm::json;

static bool sendAll(int socket, const char *data, size_t size) {
  while (size > 0) {
    // No SIGPIPE: this runs inside of somebody's program.
    ssize_t sent = send(socket, data, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR)
      continue;
    if (sent <= 0)
      return false;
    data += sent;
    size -= static_cast<size_t>(sent);
  }
  return true;
}

bool sendMessage(int socket, Message message) {
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(std::move(message.json));
  char header[8];
  llvm::support::endian::write32le(header, static_cast<uint32_t>(text.size()));
  llvm::support::endian::write32le(header + 4,
                                   static_cast<uint32_t>(message.blob.size()));
  return sendAll(socket, header, sizeof header) &&
         sendAll(socket, text.data(), text.size()) &&
         sendAll(socket, message.blob.data(), message.blob.size());
}

static bool receiveAll(int socket, char *data, size_t size,
                       const std::function<bool()> &mayWait) {
  while (size > 0) {
    pollfd wait{socket, POLLIN, 0};
    int ready = poll(&wait, 1, 20);
    if (ready == 0 || (ready < 0 && errno == EINTR)) {
      if (!mayWait())
        return false;
      continue;
    }
    if (ready < 0)
      return false;
    ssize_t got = recv(socket, data, size, 0);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    data += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

std::optional<Message> receiveMessage(int socket,
                                      const std::function<bool()> &mayWait) {
  char header[8];
  if (!receiveAll(socket, header, sizeof header, mayWait))
    return std::nullopt;
  int64_t textBytes = llvm::support::endian::read32le(header);
  int64_t blobBytes = llvm::support::endian::read32le(header + 4);
  if (textBytes > kMaxFrameBytes || blobBytes > kMaxFrameBytes)
    return std::nullopt;
  std::string text(static_cast<size_t>(textBytes), '\0');
  Message message;
  message.blob.resize(static_cast<size_t>(blobBytes));
  if (!receiveAll(socket, text.data(), text.size(), mayWait) ||
      !receiveAll(socket, message.blob.data(), message.blob.size(), mayWait))
    return std::nullopt;
  llvm::Expected<json::Value> value = json::parse(text);
  if (!value) {
    llvm::consumeError(value.takeError());
    return std::nullopt;
  }
  json::Object *object = value->getAsObject();
  if (!object)
    return std::nullopt;
  message.json = std::move(*object);
  return message;
}

static std::string utf8(const std::string &text) {
  return json::isUTF8(text) ? text : json::fixUTF8(text);
}

json::Object toJson(const Error &error) {
  return json::Object{
      {"error", json::Object{{"code", static_cast<int64_t>(error.code)},
                             {"message", utf8(error.message)},
                             {"where", utf8(error.where)},
                             {"rule", utf8(error.rule)},
                             {"hint", utf8(error.hint)}}}};
}

std::optional<Error> errorFrom(const Message &message) {
  const json::Object *object = message.json.getObject("error");
  if (!object)
    return std::nullopt;
  auto text = [&](const char *name) {
    return object->getString(name).value_or("").str();
  };
  auto code = object->getInteger("code").value_or(0);
  bool known = code > 0 && code <= static_cast<int>(ErrorCode::InvalidArgument);
  return makeError(known ? static_cast<ErrorCode>(code) : ErrorCode::Internal,
                   text("where"), text("message"), text("rule"), text("hint"));
}

template <typename T> static json::Array arrayOf(const std::vector<T> &values) {
  json::Array array;
  for (const T &value : values)
    array.push_back(value);
  return array;
}

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
    warnings.push_back(utf8(warning));
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
                      {"merged", arrayOf(map.merged)},
                      {"box", arrayOf(map.box)},
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
                     {"extents", arrayOf(tensor.extents)}});
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
                      {"symbols", arrayOf(code.symbols)},
                      {"gridExtents", arrayOf(code.gridExtents)},
                      {"gridTiles", arrayOf(code.gridTiles)},
                      {"mostBlocks", code.mostBlocks},
                      {"clusterBlocks", code.clusterBlocks},
                      {"takesCounter", code.takesCounter},
                      {"tensors", arrayOf(code.tensors)},
                      {"alignedViews", arrayOf(code.alignedViews)},
                      {"tensorMaps", std::move(tensorMaps)},
                      {"intermediates", std::move(intermediates)}};
}

// A candidate is of one form. The blob holds the images one after the other.
Message toMessage(const KernelCode &code) {
  Message message{toJson(code), code.image};
  json::Array later;
  for (const KernelCode &next : code.later) {
    later.push_back(toJson(next));
    message.blob += next.image;
  }
  message.json["later"] = std::move(later);
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

static bool readIntermediates(const json::Object &from, KernelCode &code) {
  const json::Array *list = from.getArray("intermediates");
  if (!list)
    return false;
  for (const json::Value &item : *list) {
    const json::Object *tensor = item.getAsObject();
    auto name = tensor ? tensor->getString("dtype") : std::nullopt;
    auto dtype = name ? parseDType(*name) : std::nullopt;
    Intermediate &made = code.intermediates.emplace_back();
    if (!dtype || !readStrings(*tensor, "extents", made.extents))
      return false;
    made.dtype = *dtype;
  }
  return true;
}

/// Numbers that do not fit a plan are refused; what else holds of a map, the
/// plan's validation finds.
static bool readTensorMaps(const json::Object &from, KernelCode &code) {
  const json::Array *list = from.getArray("tensorMaps");
  if (!list)
    return false;
  for (const json::Value &item : *list) {
    const json::Object *map = item.getAsObject();
    auto view = map ? map->getInteger("view") : std::nullopt;
    auto swizzle = map ? map->getInteger("swizzle") : std::nullopt;
    ViewMap &made = code.tensorMaps.emplace_back();
    if (!view || *view < 0 || !swizzle ||
        !readNumbers(*map, "merged", 1, made.merged) ||
        !readNumbers(*map, "box", 1, made.box))
      return false;
    made.view = *view;
    made.swizzle = *swizzle;
    auto fits = [](int64_t number) { return number <= INT32_MAX; };
    if (!fits(made.swizzle) || made.swizzle < 1 ||
        !llvm::all_of(made.merged, fits) || !llvm::all_of(made.box, fits))
      return false;
  }
  return true;
}

/// Takes the image off the front of `blob`.
static std::optional<KernelCode> codeFrom(const json::Object &from,
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

std::optional<KernelCode> codeFrom(const Message &message) {
  llvm::StringRef blob = message.blob;
  std::optional<KernelCode> code = codeFrom(message.json, blob);
  const json::Array *later = message.json.getArray("later");
  if (!code || !later)
    return std::nullopt;
  for (const json::Value &item : *later) {
    const json::Object *from = item.getAsObject();
    std::optional<KernelCode> next =
        from ? codeFrom(*from, blob) : std::nullopt;
    if (!next)
      return std::nullopt;
    code->later.push_back(*std::move(next));
  }
  if (!blob.empty())
    return std::nullopt;
  return code;
}

Message toMessage(const Verdict &verdict) {
  return {json::Object{{"oracleCases", verdict.oracleCases},
                       {"full", verdict.full},
                       {"exactCases", verdict.exactCases},
                       {"exactFull", verdict.exactFull},
                       {"noExact", utf8(verdict.noExact)},
                       {"maxUlp", std::isfinite(verdict.maxUlp)
                                      ? json::Value(verdict.maxUlp)
                                      : json::Value(1e300)}},
          {}};
}

std::optional<Verdict> verdictFrom(const Message &message) {
  auto cases = message.json.getInteger("oracleCases");
  auto full = message.json.getBoolean("full");
  auto ulp = message.json.getNumber("maxUlp");
  auto exactCases = message.json.getInteger("exactCases");
  auto exactFull = message.json.getBoolean("exactFull");
  auto noExact = message.json.getString("noExact");
  if (!cases || !full || !ulp || !exactCases || !exactFull || !noExact)
    return std::nullopt;
  return Verdict{*cases, *full, *ulp, *exactCases, *exactFull, noExact->str()};
}

// Integers of a target that its device may have otherwise than its row.
static std::vector<std::pair<const char *, int64_t target::TargetDesc::*>>
targetNumbers() {
  using target::TargetDesc;
  return {{"units", &TargetDesc::units},
          {"smemPerBlock", &TargetDesc::smemPerBlock},
          {"registersPerUnit", &TargetDesc::registersPerUnit},
          {"l2Bytes", &TargetDesc::l2Bytes}};
}

json::Object toJson(const target::TargetDesc &target) {
  json::Object object{{"name", target.name}, {"busGBs", target.busGBs}};
  for (auto [name, field] : targetNumbers())
    object[name] = target.*field;
  return object;
}

Result<target::TargetDesc> targetFrom(const json::Object &from) {
  auto malformed = [] {
    return makeError(ErrorCode::InvalidArgument, "worker",
                     "malformed request: target", "worker.protocol",
                     "install the worker and the libraries of one build");
  };
  auto name = from.getString("name");
  auto bus = from.getNumber("busGBs");
  if (!name || !bus)
    return malformed();
  Result<target::TargetDesc> target = target::resolveTarget(*name);
  if (!target || target->kind != target::Kind::Gpu)
    return target;
  target->busGBs = *bus;
  for (auto [label, field] : targetNumbers()) {
    auto value = from.getInteger(label);
    if (!value || *value < 0)
      return malformed();
    (*target).*field = *value;
  }
  return target;
}

json::Object toJson(const measure::DeviceConditions &seen) {
  json::Object object{{"clock_low_mhz", seen.lowestMhz},
                      {"clock_high_mhz", seen.highestMhz},
                      {"clock_mhz", seen.lastMhz},
                      {"l2", seen.flushed ? "flushed" : "rotated"}};
  if (seen.reasons)
    object["throttle"] = arrayOf(measure::reasonNames(*seen.reasons));
  else
    object["throttle_unknown"] = utf8(seen.monitor);
  return object;
}

/// The same for the way between worker and tuner: bits, not names.
static json::Object deviceMessage(const measure::DeviceConditions &seen) {
  json::Object object{{"low", seen.lowestMhz},
                      {"high", seen.highestMhz},
                      {"last", seen.lastMhz},
                      {"monitor", utf8(seen.monitor)},
                      {"flushed", seen.flushed}};
  if (seen.reasons)
    object["reasons"] = static_cast<int64_t>(*seen.reasons);
  return object;
}

static std::optional<measure::DeviceConditions>
deviceFrom(const json::Object &from) {
  auto low = from.getNumber("low"), high = from.getNumber("high"),
       last = from.getNumber("last");
  auto monitor = from.getString("monitor");
  auto flushed = from.getBoolean("flushed");
  if (!low || !high || !last || !monitor || !flushed || !(*low >= 0) ||
      !(*high >= *low) || !(*last >= 0) || !std::isfinite(*high) ||
      !std::isfinite(*last))
    return std::nullopt;
  measure::DeviceConditions seen;
  seen.lowestMhz = *low;
  seen.highestMhz = *high;
  seen.lastMhz = *last;
  seen.monitor = monitor->str();
  seen.flushed = *flushed;
  if (auto reasons = from.getInteger("reasons"))
    seen.reasons = static_cast<uint64_t>(*reasons);
  return seen;
}

Message toMessage(const measure::Timing &timing) {
  const measure::Disturbance &seen = timing.disturbance;
  Message message{json::Object{{"samplesNs", arrayOf(timing.samplesNs)},
                               {"batch", timing.batch},
                               {"switches", seen.involuntarySwitches},
                               {"steal", seen.stealTicks},
                               {"fastestNs", seen.fastestNs},
                               {"slowestNs", seen.slowestNs},
                               {"seconds", seen.seconds}},
                  {}};
  if (timing.device)
    message.json["device"] = deviceMessage(*timing.device);
  return message;
}

std::optional<measure::Timing> timingFrom(const Message &message) {
  const json::Object &from = message.json;
  const json::Array *samples = from.getArray("samplesNs");
  auto batch = from.getInteger("batch");
  auto switches = from.getInteger("switches");
  auto steal = from.getInteger("steal");
  auto fastest = from.getNumber("fastestNs");
  auto slowest = from.getNumber("slowestNs");
  auto seconds = from.getNumber("seconds");
  if (!samples || samples->empty() || !batch || !switches || !steal ||
      !fastest || !slowest || !seconds)
    return std::nullopt;
  measure::Timing timing;
  for (const json::Value &sample : *samples) {
    auto value = sample.getAsNumber();
    if (!value || !(*value > 0) || !std::isfinite(*value))
      return std::nullopt;
    timing.samplesNs.push_back(*value);
  }
  timing.batch = *batch;
  timing.disturbance = {*switches, *steal, *fastest, *slowest, *seconds};
  if (const json::Object *device = from.getObject("device")) {
    timing.device = deviceFrom(*device);
    if (!timing.device)
      return std::nullopt;
  }
  return timing;
}

} // namespace azulejo::driver
