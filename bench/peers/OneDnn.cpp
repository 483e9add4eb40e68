//===- OneDnn.cpp - oneDNN as a peer --------------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "bench/peers/MatmulPeer.h"

#include <cstdlib>

#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.h>

namespace azulejo::bench {

namespace {
/// The entries that are used, with the types of the header.
struct Entries {
#define AZULEJO_DNNL(name) decltype(&dnnl_##name) name = nullptr;
#define AZULEJO_DNNL_ENTRIES                                                   \
  AZULEJO_DNNL(sgemm)                                                          \
  AZULEJO_DNNL(get_effective_cpu_isa)                                          \
  AZULEJO_DNNL(engine_create)                                                  \
  AZULEJO_DNNL(stream_create)                                                  \
  AZULEJO_DNNL(stream_wait)                                                    \
  AZULEJO_DNNL(memory_desc_init_by_strides)                                    \
  AZULEJO_DNNL(memory_create)                                                  \
  AZULEJO_DNNL(matmul_desc_init)                                               \
  AZULEJO_DNNL(primitive_desc_create)                                          \
  AZULEJO_DNNL(primitive_create)                                               \
  AZULEJO_DNNL(primitive_execute)
  AZULEJO_DNNL_ENTRIES
#undef AZULEJO_DNNL
  void (*setThreads)(int) = nullptr;

  bool load(void *library, void *openmp) {
    bool all = true;
#define AZULEJO_DNNL(name)                                                     \
  name = reinterpret_cast<decltype(name)>(dlsym(library, "dnnl_" #name));      \
  all &= name != nullptr;
    AZULEJO_DNNL_ENTRIES
#undef AZULEJO_DNNL
    setThreads =
        reinterpret_cast<void (*)(int)>(dlsym(openmp, "omp_set_num_threads"));
    return all && setThreads;
  }
};

Status statusOf(dnnl_status_t status, const char *what) {
  if (status == dnnl_success)
    return {};
  return makeError(ErrorCode::DriverEnv, what,
                   "oneDNN status " + std::to_string(int(status)), "peer");
}

const char *isaName(dnnl_cpu_isa_t isa) {
  switch (isa) {
  case dnnl_cpu_isa_avx:
    return "avx";
  case dnnl_cpu_isa_avx2:
    return "avx2";
  case dnnl_cpu_isa_avx2_vnni:
    return "avx2_vnni";
  case dnnl_cpu_isa_avx512_core:
    return "avx512_core";
  case dnnl_cpu_isa_avx512_core_vnni:
    return "avx512_core_vnni";
  case dnnl_cpu_isa_avx512_core_bf16:
    return "avx512_core_bf16";
  case dnnl_cpu_isa_avx512_core_amx:
    return "avx512_core_amx";
  default:
    return "other";
  }
}

class OneDnn : public MatmulPeer {
public:
  OneDnn(const Entries &entries, bool blasEntry)
      : dnnl(entries), blasEntry(blasEntry) {}

  std::string name() const override {
    return blasEntry ? "onednn_gemm" : "onednn";
  }
  std::string core() const override {
    return isaName(dnnl.get_effective_cpu_isa());
  }
  bool supports(DType dtype) const override {
    return dtype == DType::F32 || (dtype == DType::BF16 && !blasEntry);
  }
  Result<std::function<Status()>> bind(const Product &product,
                                       int threads) override {
    dnnl.setThreads(threads);
    return blasEntry ? bindGemm(product, threads)
                     : bindPrimitive(product, threads);
  }

private:
  Result<std::function<Status()>> bindGemm(const Product &product,
                                           int threads) {
    return std::function<Status()>([this, p = product, threads] {
      dnnl.setThreads(threads);
      return statusOf(dnnl.sgemm('N', p.transposeB ? 'T' : 'N', p.m, p.n, p.k,
                                 1, static_cast<const float *>(p.a), p.k,
                                 static_cast<const float *>(p.b),
                                 p.transposeB ? p.k : p.n, 0,
                                 static_cast<float *>(p.c), p.n),
                      "dnnl_sgemm");
    });
  }
  Result<std::function<Status()>> bindPrimitive(const Product &product,
                                                int threads);

  // Engine, streams and primitives live as long as the process.
  Entries dnnl;
  bool blasEntry;
  dnnl_engine_t engine = nullptr;
};

dnnl_memory_desc_t describe(const Entries &dnnl, int64_t rows, int64_t columns,
                            int64_t rowStride, int64_t columnStride,
                            DType dtype) {
  dnnl_dims_t dims{rows, columns}, strides{rowStride, columnStride};
  dnnl_memory_desc_t desc{};
  dnnl.memory_desc_init_by_strides(
      &desc, 2, dims, dtype == DType::BF16 ? dnnl_bf16 : dnnl_f32, strides);
  return desc;
}

Result<std::function<Status()>> OneDnn::bindPrimitive(const Product &p,
                                                      int threads) {
  if (!engine)
    if (Status status =
            statusOf(dnnl.engine_create(&engine, dnnl_cpu, 0), "dnnl engine");
        !status)
      return status.error();
  dnnl_memory_desc_t a = describe(dnnl, p.m, p.k, p.k, 1, p.dtype);
  dnnl_memory_desc_t b = describe(dnnl, p.k, p.n, p.transposeB ? 1 : p.n,
                                  p.transposeB ? p.k : 1, p.dtype);
  dnnl_memory_desc_t c = describe(dnnl, p.m, p.n, p.n, 1, p.dtype);
  dnnl_matmul_desc_t desc{};
  dnnl_primitive_desc_t plan = nullptr;
  dnnl_primitive_t primitive = nullptr;
  dnnl_stream_t stream = nullptr;
  dnnl_memory_t ma = nullptr, mb = nullptr, mc = nullptr;
  dnnl_status_t state = dnnl.matmul_desc_init(&desc, &a, &b, nullptr, &c);
  auto then = [&](auto step) {
    if (state == dnnl_success)
      state = step();
  };
  then([&] {
    return dnnl.primitive_desc_create(&plan, &desc, nullptr, engine, nullptr);
  });
  then([&] { return dnnl.primitive_create(&primitive, plan); });
  then([&] {
    return dnnl.stream_create(&stream, engine, dnnl_stream_default_flags);
  });
  then([&] {
    return dnnl.memory_create(&ma, &a, engine, const_cast<void *>(p.a));
  });
  then([&] {
    return dnnl.memory_create(&mb, &b, engine, const_cast<void *>(p.b));
  });
  then([&] { return dnnl.memory_create(&mc, &c, engine, p.c); });
  if (Status status = statusOf(state, "dnnl matmul"); !status)
    return status.error();
  return std::function<Status()>([=, this] {
    dnnl.setThreads(threads);
    dnnl_exec_arg_t arguments[] = {
        {DNNL_ARG_SRC, ma}, {DNNL_ARG_WEIGHTS, mb}, {DNNL_ARG_DST, mc}};
    dnnl_status_t done =
        dnnl.primitive_execute(primitive, stream, 3, arguments);
    if (done == dnnl_success)
      done = dnnl.stream_wait(stream);
    return statusOf(done, "dnnl matmul");
  });
}
} // namespace

Result<std::unique_ptr<MatmulPeer>> openOneDnn(const std::string &core,
                                               bool blasEntry) {
  if (!core.empty())
    setenv("DNNL_MAX_CPU_ISA", core.c_str(), 1);
  void *library = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
  void *openmp = dlopen("libgomp.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library || !openmp)
    return makeError(ErrorCode::DriverEnv, "libdnnl.so.2", dlerror(), "peer",
                     "install libdnnl-dev");
  Entries entries;
  if (!entries.load(library, openmp))
    return makeError(ErrorCode::DriverEnv, "libdnnl.so.2",
                     "a function is missing", "peer");
  return std::unique_ptr<MatmulPeer>(
      std::make_unique<OneDnn>(entries, blasEntry));
}

} // namespace azulejo::bench
