//===- Handle.h - from the C ABI to values and errors -----------*- C++ -*-===//
//
// What the other headers share: owners for C handles, and the step from a
// status and an az_error to an azulejo::Error. Users have no need of it.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_HANDLE_H
#define AZULEJO_HANDLE_H

#include "azulejo/Error.h"
#include "azulejo/c/azulejo.h"

#include <memory>
#include <string>

namespace azulejo {
inline namespace v0 {
namespace detail {

/// Frees a handle with its own C function.
template <auto Destroy> struct Free {
  template <typename T> void operator()(T *handle) const { Destroy(handle); }
};
using StringHandle = std::unique_ptr<az_string, Free<az_string_destroy>>;
using ErrorHandle = std::unique_ptr<az_error, Free<az_error_destroy>>;

/// The Error of a failed call; takes ownership of `raw`.
inline Error takeError(az_status status, az_error *raw) {
  ErrorHandle error(raw);
  auto code = static_cast<ErrorCode>(status);
  if (!error)
    return makeError(code, {}, "no details (out of memory)", "api.memory",
                     "free memory and try again");
  return makeError(code, az_error_where(raw), az_error_message(raw),
                   az_error_rule(raw), az_error_hint(raw));
}

/// Calls a C function whose last argument is `az_error **`.
template <typename Fn, typename... Args>
Status call(Fn *function, Args... args) {
  az_error *error = nullptr;
  az_status status = function(args..., &error);
  if (status == AZ_OK)
    return {};
  return takeError(status, error);
}

/// The same for a function whose last but one argument receives a text.
template <typename Fn, typename... Args>
Result<std::string> callForText(Fn *function, Args... args) {
  az_string *text = nullptr;
  if (Status status = call(function, args..., &text); !status)
    return status.error();
  StringHandle owner(text);
  return std::string(az_string_data(text), az_string_size(text));
}

/// NULL for an empty text: "not given" in option structs.
inline const char *orNull(const std::string &text) {
  return text.empty() ? nullptr : text.c_str();
}

} // namespace detail
} // namespace v0
} // namespace azulejo

#endif // AZULEJO_HANDLE_H
