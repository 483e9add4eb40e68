//===- Error.h - what went wrong, as a value --------------------*- C++ -*-===//
//
// Every failure that azulejo reports is an Error: a code from the fixed
// taxonomy, the thing it is about (the user's op, tensor, file or flag), the
// rule that was broken, and a hint that says what to do. Nothing throws across
// the API and nothing aborts.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_ERROR_H
#define AZULEJO_ERROR_H

#include <string>
#include <utility>
#include <variant>

namespace azulejo {
inline namespace v0 {

/// The error taxonomy. The numbers are part of the C ABI and never change;
/// the CLI's exit codes derive from the class of the code (docs/errors.md).
enum class ErrorCode : int {
  Ok = 0,
  InvalidGraph = 1,    ///< The graph breaks a rule of an op or of the graph.
  Unsupported = 2,     ///< Valid, but no code path serves it (shape, dtype...).
  ResourceLimit = 3,   ///< Needs more of a fixed resource than the target has.
  Toolchain = 4,       ///< Assembler, compiler library or worker is missing.
  DriverEnv = 5,       ///< No driver, no device, or the driver refuses.
  DriverTooOld = 6,    ///< The driver cannot load what this build emits.
  CacheEnv = 7,        ///< The cache directory is unusable (a warning).
  CacheRejected = 8,   ///< A cache entry was refused (a warning).
  TuneFailed = 9,      ///< Tuning gave nothing; the default schedule is used.
  CandidateWrong = 10, ///< A candidate's output disagrees with the oracle.
  Timeout = 11,        ///< A time limit ended the work.
  Interrupted = 12,    ///< The user ended the work.
  OutOfMemory = 13,    ///< Host or device memory is exhausted.
  DeviceLost = 14,     ///< The device is unusable; sticky and fatal.
  Internal = 15,       ///< Always our bug; report it with the reproducer.
  InvalidArgument = 16, ///< A call, flag, file or variable is malformed.
};

/// The stable spelling of a code, for example "InvalidGraph".
inline const char *errorCodeName(ErrorCode code) {
  switch (code) {
  case ErrorCode::Ok:
    return "Ok";
  case ErrorCode::InvalidGraph:
    return "InvalidGraph";
  case ErrorCode::Unsupported:
    return "Unsupported";
  case ErrorCode::ResourceLimit:
    return "ResourceLimit";
  case ErrorCode::Toolchain:
    return "Toolchain";
  case ErrorCode::DriverEnv:
    return "DriverEnv";
  case ErrorCode::DriverTooOld:
    return "DriverTooOld";
  case ErrorCode::CacheEnv:
    return "CacheEnv";
  case ErrorCode::CacheRejected:
    return "CacheRejected";
  case ErrorCode::TuneFailed:
    return "TuneFailed";
  case ErrorCode::CandidateWrong:
    return "CandidateWrong";
  case ErrorCode::Timeout:
    return "Timeout";
  case ErrorCode::Interrupted:
    return "Interrupted";
  case ErrorCode::OutOfMemory:
    return "OutOfMemory";
  case ErrorCode::DeviceLost:
    return "DeviceLost";
  case ErrorCode::Internal:
    return "Internal";
  case ErrorCode::InvalidArgument:
    return "InvalidArgument";
  }
  return "Unknown";
}

/// One failure. `where` names the user's thing ("op 'scores' (matmul)",
/// "tensor 'q'", a path, a flag); `rule` is the constraint's label or the
/// rule in words; `hint` says what would make it right.
struct [[nodiscard]] Error {
  ErrorCode code = ErrorCode::Internal;
  std::string message;
  std::string where;
  std::string rule;
  std::string hint;

  /// One line for people: code, where, message, rule and hint.
  std::string str() const {
    std::string text = std::string("error ") + errorCodeName(code) + ": ";
    if (!where.empty())
      text += where + ": ";
    text += message;
    if (!rule.empty())
      text += " [" + rule + "]";
    if (!hint.empty())
      text += "; hint: " + hint;
    return text;
  }
};

/// The one place where errors are born, so that one breakpoint finds them.
inline Error makeError(ErrorCode code, std::string where, std::string message,
                       std::string rule = {}, std::string hint = {}) {
  return Error{code, std::move(message), std::move(where), std::move(rule),
               std::move(hint)};
}

/// A value or an Error. Test with `if (result)`; `*result` and `result->`
/// give the value, `error()` gives the Error.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : state(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state.index() == 0; }
  explicit operator bool() const { return ok(); }

  T &operator*() & { return std::get<0>(state); }
  const T &operator*() const & { return std::get<0>(state); }
  T &&operator*() && { return std::get<0>(std::move(state)); }
  T *operator->() { return &std::get<0>(state); }
  const T *operator->() const { return &std::get<0>(state); }

  const Error &error() const & { return std::get<1>(state); }
  Error &&error() && { return std::get<1>(std::move(state)); }

private:
  std::variant<T, Error> state;
};

/// Success or an Error.
template <> class [[nodiscard]] Result<void> {
public:
  Result() = default;
  Result(Error error) : failure(std::move(error)), good(false) {}

  bool ok() const { return good; }
  explicit operator bool() const { return good; }
  const Error &error() const & { return failure; }
  Error &&error() && { return std::move(failure); }

private:
  Error failure{};
  bool good = true;
};

using Status = Result<void>;

} // namespace v0
} // namespace azulejo

#endif // AZULEJO_ERROR_H
