//===- SanitizerOptions.cpp - what sanitizers do not report ---------------===//
//
// The one place where reports are turned off in builds that hold both our
// instrumented code and the packaged archives of LLVM, which are not. Linked
// into every program of such a build; ASAN_OPTIONS and so on still override.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//

// allow_user_poisoning=0: LLVM's allocators are templates in headers. Our
// copies poison what they hold and unpoison what they hand out; the archives'
// copies do neither, so memory that one half hands out would seem forbidden to
// the other.
// protect_shadow_gap=0: the CUDA driver maps memory there.
extern "C" __attribute__((used)) const char *__asan_default_options() {
  return "allow_user_poisoning=0:protect_shadow_gap=0";
}

// libnvJitLink.so: it keeps a few kilobytes of each session that was destroyed
// (NVIDIA's; release 13.0).
extern "C" __attribute__((used)) const char *__lsan_default_suppressions() {
  return "leak:libnvJitLink.so\n";
}
