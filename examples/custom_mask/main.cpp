//===- main.cpp - attention masks that compose ----------------------------===//
//
// Several documents are packed into one sequence. A query may see a key when
// the key is not later (causal), is among the last 48 positions (window), and
// belongs to the same document; and nearer keys are preferred (ALiBi).
//
// The example states this twice. "declared": causal, window and ALiBi by name,
// joined with `&` to a document mask that the graph computes. "computed": all
// four as ordinary ops on positions. No S x S mask is ever an input; whether
// one is materialised is the compiler's choice. Both are checked against loops.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "../measure/Arguments.h"
#include "../measure/Program.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

using azulejo::Dim;
using azulejo::DType;
using azulejo::ErrorCode;
using azulejo::Graph;
using azulejo::makeError;
using azulejo::Result;
using azulejo::Status;
using azulejo::Tensor;
using measure::HostTensor;
using measure::Program;

namespace {

constexpr int64_t batch = 2, heads = 4, size = 32, window = 48, maxLength = 512;

/// The inputs that both graphs share, and the positions derived from them.
struct Inputs {
  explicit Inputs(Graph &g)
      : length(g.dim("S", 1, maxLength)),
        q(g.input("q", {batch, heads, length, size}, DType::F32)),
        k(g.input("k", {batch, heads, length, size}, DType::F32)),
        v(g.input("v", {batch, heads, length, size}, DType::F32)),
        documents(g.input("documents", {maxLength}, DType::I32)),
        slopes(g.input("slopes", {heads}, DType::F32)),
        query(g.reshape(g.iota({length}, 0, DType::I32), {length, 1})),
        key(g.reshape(g.iota({length}, 0, DType::I32), {1, length})) {}

  /// True where query and key lie in one document: a table lookup per position
  /// on either side, then a comparison that broadcasts to [S, S].
  Tensor sameDocument(Graph &g) const {
    return g.compare(g.gather(documents, query, 0, "document_of_query"), "eq",
                     g.gather(documents, key, 0, "document_of_key"),
                     "same_document");
  }

  Dim length;
  Tensor q, k, v, documents, slopes;
  Tensor query, key; ///< i32 [S, 1] and [1, S]
};

Graph declared() {
  Graph g;
  Inputs in(g);
  g.output("o",
           g.attention(in.q, in.k, in.v,
                       {.mask = azulejo::causal() & azulejo::window(window) &
                                azulejo::mask(in.sameDocument(g)) &
                                azulejo::alibi(in.slopes)}));
  return g;
}

Graph computed() {
  Graph g;
  Inputs in(g);
  Tensor distance = g.sub(in.query, in.key, "distance");
  Tensor zero = g.constant(0, DType::I32);
  Tensor reach = g.constant(window, DType::I32);
  Tensor visible = g.logicalAnd(g.compare(distance, "ge", zero, "causal"),
                                g.compare(distance, "lt", reach, "window"));
  visible = g.logicalAnd(visible, in.sameDocument(g), "visible");
  Tensor nearness = g.mul(g.reshape(in.slopes, {heads, 1, 1}),
                          g.neg(g.cast(distance, DType::F32)), "alibi");
  g.output("o", g.attention(in.q, in.k, in.v,
                            {.mask = azulejo::mask(visible) &
                                     azulejo::bias(nearness)}));
  return g;
}

/// Documents of uneven length; some end inside the window of their successor.
std::vector<int32_t> documentTable() {
  std::vector<int32_t> table;
  for (int32_t document = 0; table.size() < size_t(maxLength); ++document)
    table.insert(table.end(), size_t(5 + document * 37 % 90), document);
  table.resize(maxLength);
  return table;
}

struct Data {
  int64_t length;
  HostTensor q, k, v, documents, slopes;

  explicit Data(int64_t length)
      : length(length), q(random(length, 1)), k(random(length, 2)),
        v(random(length, 3)),
        documents(HostTensor::of({maxLength}, documentTable())),
        slopes(HostTensor::of(
            {heads}, std::vector<float>{0.25f, 0.0625f, 0.015625f, 0})) {}

  static HostTensor random(int64_t length, uint64_t seed) {
    return HostTensor::random(DType::F32, {batch, heads, length, size}, seed);
  }
};

/// The obvious loops.
HostTensor exact(const Data &d) {
  HostTensor o(DType::F32, {batch, heads, d.length, size});
  for (int64_t plane = 0; plane < batch * heads; ++plane)
    for (int64_t query = 0; query < d.length; ++query) {
      int64_t first = plane * d.length; // rows of this batch and head
      std::vector<double> score, sum(size, 0.0);
      std::vector<int64_t> seen;
      for (int64_t key = 0; key < d.length; ++key) {
        bool visible = key <= query && query - key < window &&
                       d.documents.at(query) == d.documents.at(key);
        if (!visible)
          continue;
        double dot = 0;
        for (int64_t c = 0; c < size; ++c)
          dot += double(d.q.at((first + query) * size + c)) *
                 d.k.at((first + key) * size + c);
        seen.push_back(key);
        score.push_back(dot / std::sqrt(double(size)) +
                        d.slopes.at(plane % heads) * double(key - query));
      }
      double highest = *std::max_element(score.begin(), score.end()), total = 0;
      for (size_t i = 0; i < seen.size(); ++i) {
        double weight = std::exp(score[i] - highest);
        total += weight;
        for (int64_t c = 0; c < size; ++c)
          sum[c] += weight * d.v.at((first + seen[i]) * size + c);
      }
      for (int64_t c = 0; c < size; ++c)
        o.set((first + query) * size + c, float(sum[c] / total));
    }
  return o;
}

Status check(const Program &program, const char *name, const Data &d) {
  HostTensor o(DType::F32, {batch, heads, d.length, size});
  if (Status status =
          program.run({d.q.view(), d.k.view(), d.v.view(), d.documents.view(),
                       d.slopes.view(), o.view()});
      !status)
    return status;
  double error = measure::relativeError(o, exact(d));
  std::printf("%-9s S = %3lld   relative error %.2e\n", name,
              (long long)d.length, error);
  if (error <= 1e-5)
    return {};
  return makeError(ErrorCode::CandidateWrong, name,
                   "differs from the loops at S = " + std::to_string(d.length),
                   "tolerance 1e-5");
}

Status run(bool quick, const std::string &deviceName) {
  Result<azulejo::Device> device = azulejo::Device::open(deviceName);
  if (!device)
    return device.error();
  std::printf("causal & window(%lld) & same document & ALiBi on %s\n\n",
              (long long)window, device->name().c_str());
  for (bool byName : {true, false}) {
    Result<Program> program =
        Program::compile(byName ? declared() : computed(), *device, true);
    if (!program)
      return program.error();
    // One compilation serves every length.
    for (int64_t length : {1, 47, 129, 300, 512}) {
      if (quick && length > 129)
        break;
      if (Status status =
              check(*program, byName ? "declared" : "computed", Data(length));
          !status)
        return status;
    }
  }
  return {};
}

} // namespace

int main(int argc, char **argv) {
  std::optional<measure::Arguments> arguments =
      measure::readArguments(argc, argv, "example_custom_mask");
  if (!arguments)
    return 2;
  if (Status status = run(arguments->quick, arguments->device); !status) {
    std::fprintf(stderr, "%s\n", status.error().str().c_str());
    return 1;
  }
  return 0;
}
