//===- ErrorTest.cpp - wrong programs and what they are told --------------===//
//
// Each row is a small wrong program against the public headers. It must fail
// with the stated code and rule, the error must name what the user wrote (the
// op, tensor, dimension or option, found in `where` or in the message), and it
// must say what to do about it.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "azulejo/Azulejo.h"

#include <gtest/gtest.h>

#include <cmath>
#include <ostream>

using namespace azulejo;

namespace {

struct WrongProgram {
  const char *title;
  ErrorCode code;
  const char *rule;
  const char *names; ///< what the error must mention
  Status (*program)();
};

std::ostream &operator<<(std::ostream &out, const WrongProgram &program) {
  return out << program.title;
}

/// Builds a graph and gives its first error.
#define GRAPH(...)                                                             \
  [] {                                                                         \
    Graph g;                                                                   \
    auto x = g.input("x", {4, 8}, f32);                                        \
    __VA_ARGS__;                                                               \
    return g.status();                                                         \
  }

Tensor head(Graph &g, const char *name, Dim heads, Dim length = 16,
            int64_t size = 64, DType dtype = bf16) {
  return g.input(name, {2, heads, length, size}, dtype);
}

constexpr ErrorCode kGraph = ErrorCode::InvalidGraph;

const WrongProgram kPrograms[] = {
    // Dimensions, inputs and outputs.
    {"dim_name", kGraph, "dim.C1", "2S", GRAPH(g.dim("2S", 1, 4))},
    {"dim_range", kGraph, "dim.C2", "'S'", GRAPH(g.dim("S", 4, 1))},
    {"dim_twice", kGraph, "dim.C3", "'S'",
     GRAPH(g.dim("S", 1, 4); g.dim("S", 1, 5))},
    {"input_undeclared_dim", kGraph, "graph.dims", "'T'",
     GRAPH(g.input("y", {Dim("T"), 4}, f32))},
    {"input_name_taken", kGraph, "graph.names", "'x'",
     GRAPH(g.input("x", {4}, f32))},
    {"input_bad_name", kGraph, "graph.names", "a b",
     GRAPH(g.input("a b", {4}, f32))},
    {"input_f64", kGraph, "graph.dtype", "'y'",
     GRAPH(g.input("y", {4}, DType::F64))},
    {"input_negative_size", kGraph, "graph.size", "'y'",
     GRAPH(g.input("y", {Dim(-4)}, f32))},
    {"input_size_text", kGraph, "graph.size", "'y'",
     GRAPH(g.input("y", {Dim("S +")}, f32))},
    {"input_huge", kGraph, "graph.size", "'y'",
     GRAPH(g.input("y", {int64_t{1} << 40, int64_t{1} << 40}, f32))},
    {"input_rank", kGraph, "graph.rank", "'y'",
     GRAPH(g.input("y", Shape(9, Dim(1)), f32))},
    {"no_output", kGraph, "graph.outputs", "graph", GRAPH(g.exp(x))},
    {"output_of_other_graph", kGraph, "graph.values", "'o'",
     GRAPH(Graph other; g.output("o", other.input("z", {4}, f32)))},
    {"output_name_taken", kGraph, "graph.names", "'x'", GRAPH(g.output("x", x))},
    // Elementwise ops.
    {"add_shapes", kGraph, "add.C1", "'sum'",
     GRAPH(g.add(x, g.input("y", {5}, f32), "sum"))},
    {"add_names_tensor", kGraph, "add.C1", "'y'",
     GRAPH(g.add(x, g.input("y", {5}, f32)))},
    {"add_fp8", kGraph, "add.C2", "'y'",
     GRAPH(g.add(x, g.input("y", {8}, f8e4m3)))},
    {"exp_of_integer", kGraph, "exp.C3", "'e'",
     GRAPH(g.exp(g.input("n", {4}, i32), "e"))},
    {"add_of_bools", kGraph, "add.C3", "'m'",
     GRAPH(auto m = g.input("m", {4}, i1); g.add(m, m, "m"))},
    {"and_of_floats", kGraph, "and.C3", "'x'", GRAPH(g.logicalAnd(x, x))},
    {"compare_predicate", kGraph, "compare.attrs", "'cmp'",
     GRAPH(g.compare(x, "less", x, "cmp"))},
    {"where_condition", kGraph, "where.C3", "'pick'",
     GRAPH(g.where(x, x, x, "pick"))},
    {"clamp_order", kGraph, "clamp.C4", "'c'", GRAPH(g.clamp(x, 2, 1, "c"))},
    {"clamp_nan", kGraph, "clamp.C4", "'c'",
     GRAPH(g.clamp(x, std::nan(""), 1, "c"))},
    {"cast_f64", kGraph, "cast.C2", "'c'", GRAPH(g.cast(x, DType::F64, "c"))},
    // Rows.
    {"reduce_axis", kGraph, "reduce_sum.C2", "'r'",
     GRAPH(g.reduceSum(x, {2}, false, "r"))},
    {"reduce_axis_twice", kGraph, "reduce_max.C2", "'r'",
     GRAPH(g.reduceMax(x, {1, 1}, false, "r"))},
    {"reduce_no_axis", kGraph, "reduce_mean.C2", "'r'",
     GRAPH(g.reduceMean(x, {}, false, "r"))},
    {"softmax_axis", kGraph, "softmax.C2", "'p'", GRAPH(g.softmax(x, 5, "p"))},
    {"norm_weight", kGraph, "rms_norm.C3", "'w'",
     GRAPH(g.rmsNorm(x, {g.input("w", {4}, f32)}))},
    {"norm_eps", kGraph, "layer_norm.C4", "'n'",
     GRAPH(g.layerNorm(x, {}, {.eps = -1, .name = "n"}))},
    {"rope_tables_differ", kGraph, "rope.C3", "'r'",
     GRAPH(g.rope(x, g.input("c", {4, 4}, f32), g.input("s", {4, 2}, f32),
                  RopePairing::Half, "r"))},
    {"rope_too_wide", kGraph, "rope.C4", "'c'",
     GRAPH(auto c = g.input("c", {4, 8}, f32); g.rope(x, c, c))},
    // Contractions.
    {"matmul_sizes", kGraph, "matmul.C3", "'mm'",
     GRAPH(g.matmul(x, x, {.name = "mm"}))},
    {"matmul_rank", kGraph, "matmul.C2", "'v'",
     GRAPH(g.matmul(x, g.input("v", {8}, f32)))},
    {"matmul_batch", kGraph, "matmul.C4", "'b'",
     GRAPH(g.matmul(g.input("a", {2, 4, 8}, f32),
                    g.input("b", {3, 8, 4}, f32)))},
    {"matmul_tf32", kGraph, "matmul.C5", "'mm'",
     GRAPH(g.matmul(x, g.input("w", {8, 4}, bf16),
                    {.precision = Precision::tf32, .name = "mm"}))},
    {"attention_tf32", kGraph, "attention.C14", "'h'",
     GRAPH(auto h = head(g, "h", 4, 16, 64, f16);
           g.attention(h, h, h, {.precision = Precision::tf32}))},
    {"attention_types", kGraph, "attention.C1", "'v'",
     GRAPH(g.attention(head(g, "q", 4), head(g, "k", 4),
                       head(g, "v", 4, 16, 64, f16)))},
    {"attention_rank", kGraph, "attention.C2", "'x'",
     GRAPH(g.attention(x, x, x))},
    {"attention_heads", kGraph, "attention.C6", "'attn'",
     GRAPH(g.attention(head(g, "q", 4), head(g, "k", 3), head(g, "v", 3),
                       {.name = "attn"}))},
    {"attention_head_size", kGraph, "attention.C4", "'k'",
     GRAPH(g.attention(head(g, "q", 4), head(g, "k", 4, 16, 32),
                       head(g, "v", 4)))},
    {"attention_lengths_kv", kGraph, "attention.C5", "'v'",
     GRAPH(g.attention(head(g, "q", 4), head(g, "k", 4), head(g, "v", 4, 9)))},
    {"attention_window_alone", kGraph, "attention.C8", "'attn'",
     GRAPH(g.attention(head(g, "q", 4), head(g, "k", 4), head(g, "v", 4),
                       {.mask = window(8), .name = "attn"}))},
    {"attention_window_zero", kGraph, "attention.C8", "'attn'",
     GRAPH(g.attention(head(g, "q", 4), head(g, "k", 4), head(g, "v", 4),
                       {.mask = causal() & window(0), .name = "attn"}))},
    {"attention_softcap", kGraph, "attention.C9", "'attn'",
     GRAPH(g.attention(head(g, "q", 4), head(g, "k", 4), head(g, "v", 4),
                       {.softcap = -1, .name = "attn"}))},
    {"attention_mask_type", kGraph, "attention.C11", "'x'",
     GRAPH(g.attention(head(g, "q", 4), head(g, "k", 4), head(g, "v", 4),
                       {.mask = mask(x)}))},
    {"attention_lengths", kGraph, "attention.C12", "'x'",
     GRAPH(g.attention(head(g, "q", 4), head(g, "k", 4), head(g, "v", 4),
                       {.mask = lengths(x)}))},
    {"attention_slopes", kGraph, "attention.C13", "'x'",
     GRAPH(g.attention(head(g, "q", 4), head(g, "k", 4), head(g, "v", 4),
                       {.mask = causal() & alibi(x)}))},
    {"attention_causal_twice", kGraph, "attention.mask", "'attn'",
     GRAPH(g.attention(head(g, "q", 4), head(g, "k", 4), head(g, "v", 4),
                       {.mask = causal() & causalTopLeft(), .name = "attn"}))},
    // Layout.
    {"reshape_count", kGraph, "reshape.C1", "'r'", GRAPH(g.reshape(x, {5}, "r"))},
    {"transpose_perm", kGraph, "transpose.C1", "'t'",
     GRAPH(g.transpose(x, {0, 0}, "t"))},
    {"slice_outside", kGraph, "slice.C3", "'s'",
     GRAPH(g.slice(x, {0, 4}, {4, 8}, {}, "s"))},
    {"slice_axes", kGraph, "slice.C1", "'s'", GRAPH(g.slice(x, {0}, {4}, {}, "s"))},
    {"concat_types", kGraph, "concat.C2", "'y'",
     GRAPH(g.concat({x, g.input("y", {4, 8}, f16)}, 0))},
    {"concat_nothing", kGraph, "concat.operands", "'all'",
     GRAPH(Graph h; g.output("o", x); (void)h;
           auto t = detail::apply("concat", {}, {{"axis", int64_t{0}}}, "all", 1,
                                  g.shared());
           (void)t)},
    {"gather_ids", kGraph, "gather.C2", "'x'", GRAPH(g.gather(x, x))},
    {"broadcast_shape", kGraph, "broadcast.C1", "'b'",
     GRAPH(g.broadcast(x, Shape{3, 8}, "b"))},
    {"cache_update_shape", kGraph, "cache_update.C2", "'u'",
     GRAPH(g.cacheUpdate(x, g.input("u", {2, 7}, f32),
                         g.input("at", {}, i32), 0))},
    {"iota_type", kGraph, "iota.C1", "'i'", GRAPH(g.iota({4}, 0, bf16, "i"))},
    {"unknown_op", kGraph, "op.name", "'magic'",
     GRAPH(auto t = detail::apply("magic", {x}, {}, ""); (void)t)},
    {"unknown_attribute", kGraph, "exp.attrs", "'base'",
     GRAPH(auto t = detail::apply("exp", {x}, {{"base", 2.0}}, ""); (void)t)},
    // Values of the wrong kind.
    {"value_of_other_graph", kGraph, "graph.values", "'sum'",
     GRAPH(Graph other; g.add(x, other.input("z", {8}, f32), "sum"))},
    {"op_on_other_graph", kGraph, "graph.values", "exp",
     GRAPH(Graph other; g.exp(other.input("z", {8}, f32)))},
    {"host_data_in_graph", kGraph, "trace.capture", "'sum'",
     GRAPH(g.add(x, Tensor::of<float>({1}, {1.0f}), "sum"))},
    {"empty_tensor", kGraph, "graph.values", "'sum'",
     GRAPH(g.add(x, Tensor(), "sum"))},
    // Tracing.
    {"branch_on_data", kGraph, "trace.data", "traced",
     [] {
       auto graph = trace(
           [](Tensor x) { return x ? silu(x) : exp(x); },
           TensorSpec{"x", {1}, f32});
       return graph ? Status() : Status(graph.error());
     }},
    {"item_while_tracing", kGraph, "trace.data", "traced",
     [] {
       auto graph = trace(
           [](Tensor x) { return x * double(x.item().ok()); },
           TensorSpec{"x", {1}, f32});
       return graph ? Status() : Status(graph.error());
     }},
    // Host data.
    {"default_constructed", ErrorCode::InvalidArgument, "tensor.empty",
     "default-constructed", [] { return Tensor().status(); }},
    {"tensor_count", ErrorCode::InvalidArgument, "tensor.count", "Tensor::of",
     [] { return exp(Tensor::of<float>({3}, {1.0f})).status(); }},
    {"eager_rules", kGraph, "exp.C3", "'e'",
     [] { return exp(Tensor::of<int32_t>({1}, {1}), "e").status(); }},
    {"item_of_many", ErrorCode::InvalidArgument, "tensor.item", "2 elements",
     [] {
       auto item = Tensor::of<float>({2}, {1.0f, 2.0f}).item();
       return item ? Status() : Status(item.error());
     }},
    // Devices, compilation, loading.
    {"unknown_device", ErrorCode::InvalidArgument, "", "abacus",
     [] {
       auto device = Device::open("abacus");
       return device ? Status() : Status(device.error());
     }},
    {"dimension_nobody_binds", kGraph, "graph.bind", "'S'",
     [] {
       Graph g;
       auto s = g.dim("S", 1, 8);
       g.output("o", g.exp(g.input("x", {s * 2}, f32)));
       auto exe = compile(g, *Device::open("cpu"));
       return exe ? Status() : Status(exe.error());
     }},
    {"no_compiler_library", ErrorCode::Toolchain, "compiler.missing",
     "/nowhere/libazulejo-compiler.so",
     [] {
       Graph g;
       g.output("o", g.exp(g.input("x", {8}, f32)));
       auto exe = compile(g, *Device::open("cpu"),
                          {.cache = {.mode = CacheMode::Off},
                           .compilerPath = "/nowhere/libazulejo-compiler.so"});
       return exe ? Status() : Status(exe.error());
     }},
    {"tune_endless", ErrorCode::InvalidArgument, "api.option", "tune_seconds",
     [] {
       Graph g;
       g.output("o", g.exp(g.input("x", {8}, f32)));
       auto exe = compile(g, *Device::open("cpu"),
                          {.tune = std::chrono::hours(1000000)});
       return exe ? Status() : Status(exe.error());
     }},
    {"load_nonsense", ErrorCode::InvalidArgument, "plan.format", "plan",
     [] {
       auto exe = Executable::load("nonsense");
       return exe ? Status() : Status(exe.error());
     }},
    {"load_no_file", ErrorCode::InvalidArgument, "file.access", "/nowhere/a.azp",
     [] {
       auto exe = Executable::loadFrom("/nowhere/a.azp");
       return exe ? Status() : Status(exe.error());
     }},
    {"pool_size", ErrorCode::InvalidArgument, "api.argument", "az_pool_create",
     [] {
       auto pool = ThreadPool::create(-1);
       return pool ? Status() : Status(pool.error());
     }},
};

class WrongPrograms : public testing::TestWithParam<WrongProgram> {};

} // namespace

TEST_P(WrongPrograms, IsToldWhatIsWrong) {
  const WrongProgram &wrong = GetParam();
  Status status = wrong.program();
  ASSERT_FALSE(status) << "nothing was refused";
  const Error &error = status.error();
  EXPECT_EQ(errorCodeName(error.code), std::string(errorCodeName(wrong.code)))
      << error.str();
  if (*wrong.rule) {
    EXPECT_EQ(error.rule, wrong.rule) << error.str();
  }
  EXPECT_FALSE(error.message.empty());
  EXPECT_FALSE(error.where.empty()) << error.str();
  EXPECT_FALSE(error.rule.empty()) << error.str();
  EXPECT_FALSE(error.hint.empty()) << error.str();
  EXPECT_NE((error.where + " " + error.message).find(wrong.names),
            std::string::npos)
      << "does not name " << wrong.names << ": " << error.str();
  // The rule stands once, behind the message.
  EXPECT_EQ(error.message.find(error.rule), std::string::npos) << error.str();
}

INSTANTIATE_TEST_SUITE_P(All, WrongPrograms, testing::ValuesIn(kPrograms),
                         [](const auto &info) {
                           return std::string(info.param.title);
                         });

TEST(FirstError, IsKeptAndLaterOnesAreNot) {
  Graph g;
  auto x = g.input("x", {4, 8}, f32);
  auto bad = g.reshape(x, {5}, "first");
  g.matmul(bad, bad, {.name = "second"});
  g.input("x", {1}, f32);
  EXPECT_EQ(g.status().error().rule, "reshape.C1");
  auto exe = compile(g, *Device::open("cpu"));
  ASSERT_FALSE(exe);
  EXPECT_EQ(exe.error().str(), g.status().error().str());
}
