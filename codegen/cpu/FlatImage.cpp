//===- FlatImage.cpp - linking an object into one piece of memory ---------===//
//
// JITLink does the linking: it lays the object's sections out one after the
// other and applies the relocations. Only relative ones are allowed, so the
// bytes work at any address; anything that would need an absolute address or a
// symbol from outside is an error of ours, found here and not at run time.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "codegen/cpu/HostCode.h"

#include "llvm/ExecutionEngine/JITLink/JITLink.h"
#include "llvm/ExecutionEngine/JITLink/aarch64.h"
#include "llvm/ExecutionEngine/JITLink/x86_64.h"
#include "llvm/ExecutionEngine/Orc/SymbolStringPool.h"

using namespace llvm;
using namespace llvm::jitlink;

namespace azulejo::codegen {

namespace {

constexpr uint64_t kBase = 0x100000;
constexpr uint64_t kAlign = 64;

/// Hands out one contiguous buffer that stands for addresses from kBase on.
class FlatMemory : public JITLinkMemoryManager {
public:
  explicit FlatMemory(std::string &bytes) : bytes(bytes) {}

  using JITLinkMemoryManager::allocate;
  using JITLinkMemoryManager::deallocate;

  void allocate(const JITLinkDylib *, LinkGraph &graph,
                OnAllocatedFunction done) override {
    BasicLayout layout(graph);
    uint64_t size = 0;
    for (auto &segment : layout.segments()) {
      auto &info = segment.second;
      uint64_t align = std::max<uint64_t>(kAlign, info.Alignment.value());
      size = alignTo(size, align) + info.ContentSize + info.ZeroFillSize;
    }
    bytes.assign(size, '\0');
    uint64_t offset = 0;
    for (auto &segment : layout.segments()) {
      auto &info = segment.second;
      uint64_t align = std::max<uint64_t>(kAlign, info.Alignment.value());
      offset = alignTo(offset, align);
      info.Addr = orc::ExecutorAddr(kBase + offset);
      info.WorkingMem = bytes.data() + offset;
      offset += info.ContentSize + info.ZeroFillSize;
    }
    if (llvm::Error error = layout.apply())
      return done(std::move(error));
    done(std::make_unique<Pending>());
  }

  void deallocate(std::vector<FinalizedAlloc> allocations,
                  OnDeallocatedFunction done) override {
    for (FinalizedAlloc &allocation : allocations)
      allocation.release();
    done(llvm::Error::success());
  }

private:
  struct Pending : InFlightAlloc {
    void finalize(OnFinalizedFunction done) override {
      done(FinalizedAlloc(orc::ExecutorAddr(kBase)));
    }
    void abandon(OnAbandonedFunction done) override {
      done(llvm::Error::success());
    }
  };
  std::string &bytes;
};

class FlatContext : public JITLinkContext {
public:
  FlatContext(HostImage &image, std::string &failure)
      : JITLinkContext(nullptr), image(image), failure(failure),
        memory(image.bytes) {}

  JITLinkMemoryManager &getMemoryManager() override { return memory; }

  void notifyFailed(llvm::Error error) override {
    failure = toString(std::move(error));
  }

  void lookup(const LookupMap &symbols,
              std::unique_ptr<JITLinkAsyncLookupContinuation> done) override {
    std::string names;
    for (auto &symbol : symbols)
      names += (*symbol.first).str() + " ";
    done->run(make_error<StringError>("the kernel refers to " + names,
                                      inconvertibleErrorCode()));
  }

  llvm::Error notifyResolved(LinkGraph &graph) override {
    for (Symbol *symbol : graph.defined_symbols())
      if (symbol->hasName() && symbol->getScope() == Scope::Default)
        image.entries[(*symbol->getName()).str()] =
            static_cast<int64_t>(symbol->getAddress().getValue() - kBase);
    return llvm::Error::success();
  }

  void
  notifyFinalized(JITLinkMemoryManager::FinalizedAlloc allocation) override {
    allocation.release();
  }

  llvm::Error modifyPassConfig(LinkGraph &,
                               PassConfiguration &config) override {
    config.PreFixupPasses.push_back([](LinkGraph &graph) -> llvm::Error {
      bool x86 = graph.getTargetTriple().isX86();
      for (Block *block : graph.blocks())
        for (Edge &edge : block->edges()) {
          Edge::Kind kind = edge.getKind();
          bool absolute =
              x86 ? kind == x86_64::Pointer64 || kind == x86_64::Pointer32 ||
                        kind == x86_64::Pointer32Signed
                  : kind == aarch64::Pointer64 || kind == aarch64::Pointer32;
          if (absolute)
            return make_error<StringError>(
                "the kernel needs an absolute address",
                inconvertibleErrorCode());
        }
      return llvm::Error::success();
    });
    return llvm::Error::success();
  }

private:
  HostImage &image;
  std::string &failure;
  FlatMemory memory;
};

} // namespace

Result<HostImage> linkFlat(StringRef object) {
  auto fail = [](std::string message) {
    return makeError(ErrorCode::Internal, "CPU code generation",
                     "linking failed: " + message);
  };
  HostImage image;
  std::string failure;
  Expected<std::unique_ptr<LinkGraph>> graph =
      createLinkGraphFromObject(MemoryBufferRef(object, "kernels"),
                                std::make_shared<orc::SymbolStringPool>());
  if (!graph)
    return fail(toString(graph.takeError()));
  link(std::move(*graph), std::make_unique<FlatContext>(image, failure));
  if (!failure.empty())
    return fail(failure);
  return image;
}

} // namespace azulejo::codegen
