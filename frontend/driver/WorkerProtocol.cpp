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
    object["throttle"] = json::Array(measure::reasonNames(*seen.reasons));
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
  Message message{json::Object{{"samplesNs", json::Array(timing.samplesNs)},
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
