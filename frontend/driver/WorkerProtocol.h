//===- WorkerProtocol.h - how tuner and worker talk -------------*- C++ -*-===//
//
// Frames over a stream socket, in both directions:
//
//   u32 bytes of JSON | u32 bytes of blob | JSON | blob      (little endian)
//
// A reply with "spent": true is a worker's last: it ends itself, because a
// candidate left its device unusable.
//
// Requests name an action in "do": hello, compile, warmUp, references, open,
// verify, time. The blob is a kernel's image, or what references hold in bytes.
// A reply holds "error" or the fields of the result. Both ends come from one
// build, which hello proves, but neither trusts the other's bytes: a worker may
// have been corrupted by the candidate that it ran, so every field is checked
// and lengths are bounded.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_FRONTEND_DRIVER_WORKERPROTOCOL_H
#define AZULEJO_FRONTEND_DRIVER_WORKERPROTOCOL_H

#include "frontend/driver/CandidateRunner.h"

#include "llvm/Support/JSON.h"

namespace azulejo::driver {

struct Message {
  llvm::json::Object json;
  std::string blob;
};

inline constexpr int64_t kMaxFrameBytes = int64_t(64) << 20;

/// Writes a whole frame; false when the other end is gone.
bool sendMessage(int socket, Message message);

/// Reads a whole frame. `mayWait` is asked at least every 20 ms while nothing
/// comes; false gives up. No value: gave up, the other end is gone, or what it
/// sent is no frame.
std::optional<Message> receiveMessage(int socket,
                                      const std::function<bool()> &mayWait);

llvm::json::Object toJson(const Error &error);
std::optional<Error> errorFrom(const Message &message);

/// As trial records keep it, too.
llvm::json::Object toJson(const codegen::AssemblyReport &report);

/// All forms and kernels; the blob holds their images. Cache entries hold the
/// same.
Message toMessage(const KernelCode &code);
std::optional<KernelCode> codeFrom(const Message &message);

Message toMessage(const Verdict &verdict);
std::optional<Verdict> verdictFrom(const Message &message);

/// Without its cases where they do not fit into a frame.
Message toMessage(const References &references);
std::optional<References> referencesFrom(const Message &message);

/// What a worker needs to know of a target beyond its name: a GPU may differ
/// from the row of the table that it goes by.
llvm::json::Object toJson(const target::TargetDesc &target);
Result<target::TargetDesc> targetFrom(const llvm::json::Object &from);

/// As trial records keep it, too.
llvm::json::Object toJson(const measure::DeviceConditions &conditions);

Message toMessage(const measure::Timing &timing);
std::optional<measure::Timing> timingFrom(const Message &message);

} // namespace azulejo::driver

#endif // AZULEJO_FRONTEND_DRIVER_WORKERPROTOCOL_H
