//===- PlanCode.cpp - the code of a plan's regions ------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/PlanCode.h"

#include "frontend/driver/CompileGuard.h"
#include "frontend/driver/InParallel.h"

#include <future>

namespace azulejo::driver {

namespace {

/// For the log, which is one thread's.
struct Remark {
  int level = 0;
  std::string text;
};

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
  bool hasOther = false; ///< `code` is of another schedule, and complete
  Remark remark;
};

class PlanCode {
public:
  PlanCode(const PlanRegions &regions, const target::TargetDesc &target,
           const api::CompileRequest &request,
           std::optional<codegen::Assembler> assembler)
      : regions(regions), target(target), request(request),
        assembler(std::move(assembler)), makings(regions.texts.size()) {}

  Result<std::vector<KernelCode>> run();

private:
  void makeForm(size_t region);
  void makeGeneral(size_t region);
  Status assemble(size_t region, KernelCode &code);
  Result<KernelCode> join(size_t region);

  const PlanRegions &regions;
  const target::TargetDesc &target;
  const api::CompileRequest &request;
  std::optional<codegen::Assembler> assembler;
  std::vector<Making> makings;
};

} // namespace

/// What to try where a schedule's code has flaws: the most promising ones with
/// smaller and yet smaller tiles, then the one that needs the least.
static std::vector<schedule::Schedule>
insteadOf(const schedule::Schedule &flawed, const RegionSchedules &known) {
  constexpr size_t kRanks = 200, kTries = 2;
  auto area = [](const schedule::Schedule &s) {
    return s.knob("tileM") * s.knob("tileN");
  };
  std::vector<schedule::Schedule> others;
  int64_t least = area(flawed);
  for (const schedule::Schedule &schedule : known.space.enumerate(kRanks))
    if (others.size() < kTries && area(schedule) < least) {
      least = area(schedule);
      others.push_back(schedule);
    }
  others.push_back(known.general);
  std::erase(others, flawed);
  return others;
}

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
  for (const schedule::Schedule &other : insteadOf(flawed.schedule, *known)) {
    Result<KernelCode> next = compileKernel(text, other, target);
    if (!next)
      return next.error();
    if (assembleKernel(*next, target, *assembler)) {
      making.remark = {2, status.error().message + "; " + other.str() +
                              " instead"};
      making.hasOther = true;
      code = *std::move(next);
      return {};
    }
  }
  making.remark = {1,
                   status.error().message + "; no other schedule does better"};
  code = std::move(flawed);
  return assembleKernel(code, target, *assembler, Flaws::Accept);
}

void PlanCode::makeForm(size_t region) {
  CompileGuard::Subject subject(regions.nameOf(region));
  Making &making = makings[region];
  making.code =
      compileForm(regions.texts[region], regions.schedules[region], target,
                  request.debugKernels, [&] { making.answer->give(true); });
  making.answer.reset();
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
  if (!*making.code || !making.general || making.hasOther)
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
  for (size_t i = 0; i < count; ++i) {
    if (!makings[i].remark.text.empty())
      request.log(makings[i].remark.level, makings[i].remark.text);
    Result<KernelCode> code = join(i);
    if (!code)
      return code.error();
    codes.push_back(*std::move(code));
  }
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
