//===- PlanCode.cpp - the code of a plan's regions ------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/PlanCode.h"

#include "frontend/driver/CompileGuard.h"
#include "frontend/driver/ImageCache.h"
#include "frontend/driver/InParallel.h"
#include "frontend/driver/Substitutes.h"

#include <future>

namespace azulejo::driver {

namespace {

/// Says once, and in the end at the latest, whether a general form is needed.
class Answer {
public:
  ~Answer() { give(false); }
  void give(bool isNeeded) {
    if (!given)
      promise.set_value(isNeeded);
    given = true;
  }
  std::future<bool> future() { return promise.get_future(); }

private:
  std::promise<bool> promise;
  bool given = false;
};

/// One region's code in the making.
struct Making {
  std::optional<Answer> answer{std::in_place};
  std::future<bool> needsGeneral = answer->future();
  std::optional<Result<KernelCode>> code, general;
  bool isWhole = false; ///< `code` needs no general form from elsewhere
  bool isKept = false;  ///< `code` came from the cache
};

class PlanCode {
public:
  PlanCode(const PlanRegions &regions, const target::TargetDesc &target,
           const api::CompileRequest &request,
           std::optional<codegen::Assembler> assembler)
      : regions(regions), target(target), request(request),
        assembler(std::move(assembler)),
        images(target, request, this->assembler ? &*this->assembler : nullptr),
        makings(regions.texts.size()) {}

  Result<std::vector<KernelCode>> run();

private:
  bool takeKept(size_t region);
  void makeForm(size_t region);
  void makeGeneral(size_t region);
  Status assemble(size_t region, KernelCode &code);
  Result<KernelCode> lower(size_t region, const schedule::Schedule &schedule);
  Result<KernelCode> lowerChosen(size_t region);
  Result<KernelCode> replaceRefused(size_t region, const Error &refusal);
  Result<KernelCode> join(size_t region);

  const PlanRegions &regions;
  const target::TargetDesc &target;
  const api::CompileRequest &request;
  std::optional<codegen::Assembler> assembler;
  ImageCache images;
  std::vector<Making> makings;
};

} // namespace

/// Assembles one region's form. A default schedule is a guess about registers;
/// where the assembler disagrees, others are tried, and if all have flaws, the
/// default is kept: a graph that can run shall run, unless it is to be strict.
/// Code for debugging has the flaws that come with calls, and shall be of the
/// schedule that is debugged.
Status PlanCode::assemble(size_t region, KernelCode &code) {
  if (request.debugKernels)
    return assembleKernel(code, target, *assembler, Flaws::Accept);
  const std::string &text = regions.texts[region];
  KernelCode flawed = code;
  Status status = assembleKernel(code, target, *assembler);
  if (status || status.error().rule != kFlawRule || !request.pin.empty())
    return status;
  if (request.strict)
    return makeError(ErrorCode::ResourceLimit, regions.nameOf(region),
                     status.error().message, "compile.strict",
                     "pin another schedule or tune; without strict another "
                     "one is taken, or this one with its flaw");
  Result<RegionSchedules> known = schedulesOf(text, target);
  if (!known)
    return known.error();
  Making &making = makings[region];
  // Its schedule may be a substitute already, whose reason stays.
  auto note = [&, before = code.note](const std::string &outcome,
                                      int64_t level) {
    std::string text = status.error().message + outcome;
    return before ? ScheduleNote{before->rule, before->text + "; " + text,
                                 std::min(before->level, level)}
                  : ScheduleNote{"schedule.flaw", text, level};
  };
  for (const schedule::Schedule &other :
       insteadOfFlawed(flawed.schedule, *known)) {
    Result<KernelCode> next = lower(region, other);
    if (!next && isRefusal(next.error()))
      continue;
    if (!next)
      return next.error();
    if (assembleKernel(*next, target, *assembler)) {
      making.isWhole = true;
      code = *std::move(next);
      code.note = note("; " + other.str() + " instead", 2);
      return {};
    }
  }
  code = std::move(flawed);
  code.note = note("; no other schedule does better", 1);
  return assembleKernel(code, target, *assembler, Flaws::Accept);
}

/// Both forms of a region under another schedule than the chosen one.
Result<KernelCode> PlanCode::lower(size_t region,
                                   const schedule::Schedule &schedule) {
  if (regions.mayLower)
    if (Status status = regions.mayLower(schedule); !status)
      return status.error();
  return compileKernel(regions.texts[region], schedule, target);
}

/// The form that assumes, under the chosen schedule.
Result<KernelCode> PlanCode::lowerChosen(size_t region) {
  Making &making = makings[region];
  const schedule::Schedule &schedule = regions.schedules[region];
  if (regions.mayLower)
    if (Status status = regions.mayLower(schedule); !status)
      return status.error();
  return compileForm(regions.texts[region], schedule, target,
                     request.debugKernels, [&] { making.answer->give(true); });
}

/// Code of another schedule where the lowering refused the chosen one. A
/// schedule that was pinned or is debugged has no substitute.
Result<KernelCode> PlanCode::replaceRefused(size_t region,
                                            const Error &refusal) {
  if (!isRefusal(refusal) || !request.pin.empty() || request.debugKernels)
    return refusal;
  const schedule::Schedule &refused = regions.schedules[region];
  std::string why =
      "the lowering refuses " + refused.str() + ": " + refusal.message;
  if (request.strict)
    return makeError(refusal.code, regions.nameOf(region), why,
                     "compile.strict",
                     "pin another schedule or tune; without strict another "
                     "one is taken");
  Result<RegionSchedules> known = schedulesOf(regions.texts[region], target);
  if (!known)
    return known.error();
  Making &making = makings[region];
  for (const schedule::Schedule &other : insteadOfRefused(refused, *known)) {
    Result<KernelCode> next = lower(region, other);
    if (!next && isRefusal(next.error()))
      continue;
    if (!next)
      return next.error();
    making.isWhole = true;
    next->note = ScheduleNote{"schedule.refused",
                              why + "; " + other.str() + " instead", 1};
    return next;
  }
  return refusal;
}

bool PlanCode::takeKept(size_t region) {
  // What tests plant takes effect when code is made.
  if (regions.mayLower)
    return false;
  std::optional<KernelCode> kept =
      images.find(regions.texts[region], regions.schedules[region]);
  if (!kept)
    return false;
  Making &making = makings[region];
  making.code = *std::move(kept);
  making.isWhole = making.isKept = true;
  return true;
}

void PlanCode::makeForm(size_t region) {
  CompileGuard::Subject subject(regions.nameOf(region));
  Making &making = makings[region];
  if (takeKept(region)) {
    making.answer.reset();
    return;
  }
  making.code = lowerChosen(region);
  making.answer.reset();
  if (!*making.code)
    making.code = replaceRefused(region, making.code->error());
  if (*making.code && assembler)
    if (Status status = assemble(region, **making.code); !status)
      making.code = status.error();
}

void PlanCode::makeGeneral(size_t region) {
  Making &making = makings[region];
  if (!making.needsGeneral.get())
    return;
  CompileGuard::Subject subject(regions.nameOf(region));
  making.general =
      compileGeneralOf(regions.texts[region], regions.schedules[region], target,
                       request.debugKernels);
  if (!*making.general || !assembler)
    return;
  Status status =
      assembleKernel(**making.general, target, *assembler, Flaws::Accept);
  if (status)
    return;
  Error error = status.error();
  error.where += ", the form without alignment";
  making.general = std::move(error);
}

Result<KernelCode> PlanCode::join(size_t region) {
  Making &making = makings[region];
  if (!*making.code || !making.general || making.isWhole)
    return std::move(*making.code);
  if (!*making.general)
    return making.general->error();
  KernelCode code = **std::move(making.code);
  if (Status status = joinForms(code, **std::move(making.general)); !status)
    return status.error();
  return code;
}

Result<std::vector<KernelCode>> PlanCode::run() {
  // A general form waits for its region's other form to know what it assumes,
  // which has begun by then: those are first in line and wait for nothing.
  size_t count = regions.texts.size();
  bool general = target.kind == target::Kind::Gpu && !request.strict;
  inParallel(general ? 2 * count : count, request.threads, [&](size_t i) {
    if (i < count)
      makeForm(i);
    else
      makeGeneral(i - count);
  });
  std::vector<KernelCode> codes;
  std::optional<Error> failure;
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    Result<KernelCode> code = join(i);
    if (!code) {
      if (!failure)
        failure = code.error();
      continue;
    }
    if (makings[i].isKept)
      ++kept;
    else if (!regions.mayLower)
      images.insert(regions.texts[i], regions.schedules[i], *code);
    if (code->note)
      request.log(static_cast<int>(code->note->level), code->note->text);
    codes.push_back(*std::move(code));
  }
  if (failure)
    return *failure;
  if (kept > 0)
    request.log(2, "code from the cache: " + std::to_string(kept) + " of " +
                       std::to_string(count) + " regions");
  return codes;
}

Result<std::vector<KernelCode>>
compileRegions(const PlanRegions &regions, const target::TargetDesc &target,
               const api::CompileRequest &request) {
  std::optional<codegen::Assembler> assembler;
  if (target.kind == target::Kind::Gpu) {
    Result<codegen::Assembler> found = codegen::findAssembler(
        {request.assembler, request.nvJitLink, request.ptxas});
    if (!found)
      return found.error();
    request.log(2, "assembler: " + found->name() +
                       (found->path.empty() ? "" : ", " + found->path) +
                       (found->note.empty() ? "" : " (" + found->note) +
                       (found->note.empty() ? "" : ")"));
    assembler = *std::move(found);
  }
  return PlanCode(regions, target, request, std::move(assembler)).run();
}

} // namespace azulejo::driver
