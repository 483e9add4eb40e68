//===- Serialize.cpp - plans as bytes -------------------------------------===//
//
//   "azplan\0\1"  8 bytes: magic and format
//   header size   8 bytes, little endian
//   header        JSON, canonical (sorted keys, no spaces)
//   blobs         the images' bytes, in order, without gaps
//   digest        32 bytes: BLAKE3 of everything before
//
// parse() accepts exactly what serialize() writes: after reading a header it
// writes the plan again and compares, so that an unknown or repeated key, or
// any other slack of JSON, cannot hide anything.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "runtime/plan/Plan.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace azulejo::plan {

namespace json = llvm::json;

static constexpr std::string_view kMagic("azplan\0\1", 8);
static constexpr size_t kFixedBytes = 16, kDigestBytes = 32;

using Digest = llvm::BLAKE3Result<LLVM_BLAKE3_OUT_LEN>;

static Digest hashOf(std::string_view bytes) {
  return llvm::BLAKE3::hash<LLVM_BLAKE3_OUT_LEN>(llvm::ArrayRef<uint8_t>(
      reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()));
}

std::string digestOf(std::string_view bytes) {
  return llvm::toHex(hashOf(bytes), /*LowerCase=*/true);
}

// JSON strings are UTF-8; labels come from users.
static json::Value textOf(const std::string &text) {
  return json::isUTF8(text) ? json::Value(text)
                            : json::Value(json::fixUTF8(text));
}

static json::Value exprJson(const Expr &expr) {
  json::Array array;
  for (int64_t word : expr.code)
    array.push_back(word);
  return array;
}

static json::Value textsJson(const std::vector<std::string> &texts) {
  json::Array array;
  for (const std::string &text : texts)
    array.push_back(textOf(text));
  return array;
}

template <typename T, typename Fn>
static json::Value listJson(const std::vector<T> &items, Fn &&one) {
  json::Array array;
  for (const T &item : items)
    array.push_back(one(item));
  return array;
}

static json::Value bufferJson(const Buffer &buffer) {
  return json::Object{
      {"kind", static_cast<int64_t>(buffer.kind)},
      {"name", textOf(buffer.name)},
      {"dtype", static_cast<int64_t>(buffer.dtype)},
      {"shape", listJson(buffer.shape, exprJson)},
      {"offset", exprJson(buffer.offset)},
      {"may_alias", static_cast<int64_t>(buffer.mayAlias)},
  };
}

static json::Value argJson(const Arg &arg) {
  if (arg.kind == Arg::Size)
    return json::Object{{"size", exprJson(arg.size)}};
  json::Object object{{"buffer", static_cast<int64_t>(arg.buffer)}};
  if (arg.kind == Arg::Stride)
    object["axis"] = static_cast<int64_t>(arg.axis);
  return object;
}

static json::Value imageJson(const Image &image) {
  json::Object object{{"kind", textOf(image.kind)},
                      {"arch", textOf(image.arch)},
                      {"features", textOf(image.features)},
                      {"digest", textOf(image.digest)},
                      {"bytes", static_cast<int64_t>(image.bytes.size())}};
  // Left out where there is none, as in plans from before it existed.
  if (!image.assembler.empty())
    object["assembler"] = textOf(image.assembler);
  return object;
}

static json::Value numbersJson(const std::vector<int32_t> &numbers) {
  return listJson(numbers, [](int32_t number) -> json::Value {
    return static_cast<int64_t>(number);
  });
}

static json::Value tensorMapJson(const TensorMap &map) {
  return json::Object{{"buffer", static_cast<int64_t>(map.buffer)},
                      {"merged", numbersJson(map.merged)},
                      {"box", numbersJson(map.box)},
                      {"swizzle", static_cast<int64_t>(map.swizzle)}};
}

static json::Value launchJson(const Launch &launch) {
  json::Object object{
      {"kernel", textOf(launch.kernel)},
      {"image", static_cast<int64_t>(launch.image)},
      {"entry_offset", launch.entryOffset},
      {"entry", textOf(launch.entry)},
      {"args", listJson(launch.args, argJson)},
      {"grid", exprJson(launch.grid)},
      {"scratch", launch.scratchBytes},
      {"block", launch.blockThreads},
      {"aligned", numbersJson(launch.aligned)},
      {"tensor_maps", listJson(launch.tensorMaps, tensorMapJson)},
      {"otherwise", static_cast<int64_t>(launch.otherwise)},
      {"family", textOf(launch.family)},
      {"schedule", textOf(launch.schedule)},
      {"ops", textsJson(launch.ops)},
      {"flops", exprJson(launch.flops)},
      {"bytes", exprJson(launch.bytes)},
  };
  if (launch.matrixPercent)
    object["matrix_percent"] = static_cast<int64_t>(launch.matrixPercent);
  return object;
}

static json::Value choiceJson(const Choice &choice) {
  auto variant = [](const Variant &variant) -> json::Value {
    return json::Object{{"min", variant.min},
                        {"max", variant.max},
                        {"launches", static_cast<int64_t>(variant.launches)}};
  };
  return json::Object{{"first", static_cast<int64_t>(choice.first)},
                      {"size", exprJson(choice.size)},
                      {"variants", listJson(choice.variants, variant)}};
}

static json::Value headerJson(const Plan &plan) {
  json::Object contracts;
  for (const auto &[name, value] : plan.contracts)
    contracts[json::isUTF8(name) ? name : json::fixUTF8(name)] = value;
  return json::Object{
      {"version", Plan::kVersion},
      {"target", textOf(plan.target)},
      {"producer", textOf(plan.producer)},
      {"dims", listJson(plan.dims,
                        [](const DimInfo &dim) -> json::Value {
                          return json::Object{{"name", textOf(dim.name)},
                                              {"min", dim.min},
                                              {"max", dim.max}};
                        })},
      {"buffers", listJson(plan.buffers, bufferJson)},
      {"launches", listJson(plan.launches, launchJson)},
      {"choices", listJson(plan.choices, choiceJson)},
      {"alternates", listJson(plan.alternates, launchJson)},
      {"images", listJson(plan.images, imageJson)},
      {"workspace", exprJson(plan.workspaceBytes)},
      {"zeroed", numbersJson(plan.zeroed)},
      {"contracts", std::move(contracts)},
      {"notes", listJson(plan.notes,
                         [](const Note &note) -> json::Value {
                           return json::Object{{"rule", textOf(note.rule)},
                                               {"ops", textsJson(note.ops)},
                                               {"text", textOf(note.text)}};
                         })},
      {"unfused_bytes", exprJson(plan.unfusedBytes)},
      {"lower_bound_bytes", exprJson(plan.lowerBoundBytes)},
  };
}

std::string serialize(const Plan &plan) {
  std::string header;
  llvm::raw_string_ostream stream(header);
  stream << headerJson(plan);
  stream.flush();
  std::string bytes(kMagic);
  for (int i = 0; i < 8; ++i)
    bytes += static_cast<char>(header.size() >> (8 * i) & 0xff);
  bytes += header;
  for (const Image &image : plan.images)
    bytes += image.bytes;
  Digest digest = hashOf(bytes);
  bytes.append(reinterpret_cast<const char *>(digest.data()), digest.size());
  return bytes;
}

namespace {

/// Reads fields and remembers the first thing that did not fit.
class Reader {
public:
  bool failed() const { return !problem.empty(); }
  std::string problem;

  void fail(llvm::StringRef key) {
    if (problem.empty())
      problem = "field '" + key.str() + "' is missing or malformed";
  }
  int64_t number(const json::Object &object, llvm::StringRef key) {
    if (std::optional<int64_t> value = object.getInteger(key))
      return *value;
    fail(key);
    return 0;
  }
  int32_t index(const json::Object &object, llvm::StringRef key) {
    int64_t value = number(object, key);
    if (value < INT32_MIN || value > INT32_MAX)
      fail(key);
    return static_cast<int32_t>(value);
  }
  std::string text(const json::Object &object, llvm::StringRef key) {
    if (std::optional<llvm::StringRef> value = object.getString(key))
      return value->str();
    fail(key);
    return {};
  }
  Expr expr(const json::Value &value, llvm::StringRef key) {
    Expr expr;
    expr.code.clear();
    const json::Array *array = value.getAsArray();
    if (!array)
      fail(key);
    else
      for (const json::Value &word : *array)
        if (std::optional<int64_t> number = word.getAsInteger())
          expr.code.push_back(*number);
        else
          fail(key);
    return expr;
  }
  Expr expr(const json::Object &object, llvm::StringRef key) {
    if (const json::Value *value = object.get(key))
      return expr(*value, key);
    fail(key);
    return {};
  }
  std::vector<int32_t> indices(const json::Object &object,
                               llvm::StringRef key) {
    std::vector<int32_t> result;
    const json::Array *array = object.getArray(key);
    if (!array)
      fail(key);
    else
      for (const json::Value &value : *array)
        if (std::optional<int64_t> number = value.getAsInteger();
            number && *number >= INT32_MIN && *number <= INT32_MAX)
          result.push_back(static_cast<int32_t>(*number));
        else
          fail(key);
    return result;
  }
  std::vector<std::string> texts(const json::Object &object,
                                 llvm::StringRef key) {
    std::vector<std::string> result;
    if (const json::Array *array = object.getArray(key)) {
      for (const json::Value &value : *array)
        if (std::optional<llvm::StringRef> text = value.getAsString())
          result.push_back(text->str());
        else
          fail(key);
    } else {
      fail(key);
    }
    return result;
  }
  /// Calls `one` on every object of a list of objects.
  template <typename Fn>
  void objects(const json::Object &object, llvm::StringRef key, Fn &&one) {
    const json::Array *array = object.getArray(key);
    if (!array)
      return fail(key);
    for (const json::Value &value : *array)
      if (const json::Object *item = value.getAsObject())
        one(*item);
      else
        fail(key);
  }
};

} // namespace

static Buffer readBuffer(Reader &in, const json::Object &object) {
  Buffer buffer;
  int64_t kind = in.number(object, "kind"), dtype = in.number(object, "dtype");
  if (kind < 0 || kind > static_cast<int64_t>(BufferKind::Workspace))
    in.fail("kind");
  if (dtype < 0 || dtype >= kDTypeCount)
    in.fail("dtype");
  if (in.failed())
    return buffer;
  buffer.kind = static_cast<BufferKind>(kind);
  buffer.dtype = static_cast<DType>(dtype);
  buffer.name = in.text(object, "name");
  if (const json::Array *shape = object.getArray("shape"))
    for (const json::Value &size : *shape)
      buffer.shape.push_back(in.expr(size, "shape"));
  else
    in.fail("shape");
  buffer.offset = in.expr(object, "offset");
  buffer.mayAlias = in.index(object, "may_alias");
  return buffer;
}

static Launch readLaunch(Reader &in, const json::Object &object) {
  Launch launch;
  launch.kernel = in.text(object, "kernel");
  launch.image = in.index(object, "image");
  launch.entryOffset = in.number(object, "entry_offset");
  launch.entry = in.text(object, "entry");
  in.objects(object, "args", [&](const json::Object &item) {
    Arg arg;
    if (item.get("size")) {
      arg.kind = Arg::Size;
      arg.size = in.expr(item, "size");
    } else {
      arg.kind = item.get("axis") ? Arg::Stride : Arg::Address;
      arg.buffer = in.index(item, "buffer");
      if (arg.kind == Arg::Stride)
        arg.axis = in.index(item, "axis");
    }
    launch.args.push_back(std::move(arg));
  });
  launch.grid = in.expr(object, "grid");
  launch.scratchBytes = in.number(object, "scratch");
  launch.blockThreads = in.number(object, "block");
  launch.aligned = in.indices(object, "aligned");
  in.objects(object, "tensor_maps", [&](const json::Object &item) {
    launch.tensorMaps.push_back(
        {in.index(item, "buffer"), in.indices(item, "merged"),
         in.indices(item, "box"), in.index(item, "swizzle")});
  });
  launch.otherwise = in.index(object, "otherwise");
  launch.family = in.text(object, "family");
  launch.schedule = in.text(object, "schedule");
  launch.ops = in.texts(object, "ops");
  launch.flops = in.expr(object, "flops");
  launch.bytes = in.expr(object, "bytes");
  if (object.get("matrix_percent"))
    launch.matrixPercent = in.index(object, "matrix_percent");
  return launch;
}

static Choice readChoice(Reader &in, const json::Object &object) {
  Choice choice;
  choice.first = in.index(object, "first");
  choice.size = in.expr(object, "size");
  in.objects(object, "variants", [&](const json::Object &item) {
    choice.variants.push_back({in.number(item, "min"), in.number(item, "max"),
                               in.index(item, "launches")});
  });
  return choice;
}

/// Fills `plan` from the header; takes the images' bytes from `blobs`.
static void readHeader(Reader &in, const json::Object &header,
                       std::string_view blobs, Plan &plan) {
  plan.target = in.text(header, "target");
  plan.producer = in.text(header, "producer");
  in.objects(header, "dims", [&](const json::Object &item) {
    plan.dims.push_back({in.text(item, "name"), in.number(item, "min"),
                         in.number(item, "max")});
  });
  in.objects(header, "buffers", [&](const json::Object &item) {
    plan.buffers.push_back(readBuffer(in, item));
  });
  in.objects(header, "launches", [&](const json::Object &item) {
    plan.launches.push_back(readLaunch(in, item));
  });
  in.objects(header, "choices", [&](const json::Object &item) {
    plan.choices.push_back(readChoice(in, item));
  });
  in.objects(header, "alternates", [&](const json::Object &item) {
    plan.alternates.push_back(readLaunch(in, item));
  });
  in.objects(header, "images", [&](const json::Object &item) {
    int64_t size = in.number(item, "bytes");
    if (size < 0 || static_cast<uint64_t>(size) > blobs.size())
      return in.fail("bytes");
    Image image;
    image.kind = in.text(item, "kind");
    image.arch = in.text(item, "arch");
    image.features = in.text(item, "features");
    image.assembler = item.getString("assembler").value_or("").str();
    image.digest = in.text(item, "digest");
    image.bytes = std::string(blobs.substr(0, size));
    plan.images.push_back(std::move(image));
    blobs.remove_prefix(size);
  });
  if (!blobs.empty())
    in.fail("images");
  plan.workspaceBytes = in.expr(header, "workspace");
  plan.zeroed = in.indices(header, "zeroed");
  if (const json::Object *contracts = header.getObject("contracts")) {
    for (const auto &[name, value] : *contracts)
      if (std::optional<bool> flag = value.getAsBoolean())
        plan.contracts[name.str()] = *flag;
      else
        in.fail("contracts");
  } else {
    in.fail("contracts");
  }
  in.objects(header, "notes", [&](const json::Object &item) {
    plan.notes.push_back(
        {in.text(item, "rule"), in.texts(item, "ops"), in.text(item, "text")});
  });
  plan.unfusedBytes = in.expr(header, "unfused_bytes");
  plan.lowerBoundBytes = in.expr(header, "lower_bound_bytes");
}

/// The JSON parser recurses; a header never nests deeper than a few levels.
static bool nestsTooDeep(std::string_view json) {
  int depth = 0;
  bool inString = false;
  for (size_t i = 0; i < json.size(); ++i) {
    if (inString && json[i] == '\\')
      ++i;
    else if (json[i] == '"')
      inString = !inString;
    else if (!inString && (json[i] == '[' || json[i] == '{')) {
      if (++depth > 16)
        return true;
    } else if (!inString && (json[i] == ']' || json[i] == '}'))
      --depth;
  }
  return false;
}

Result<Plan> parse(std::string_view bytes, const std::string &where) {
  auto fail = [&](const char *rule, std::string message) {
    return makeError(ErrorCode::InvalidArgument, where, std::move(message),
                     rule, "compile the graph again, or copy the file again");
  };
  if (bytes.size() < kFixedBytes + kDigestBytes ||
      bytes.substr(0, kMagic.size()) != kMagic)
    return fail("plan.format", "this is not a plan of this format");
  std::string_view body = bytes.substr(0, bytes.size() - kDigestBytes);
  Digest digest = hashOf(body);
  if (bytes.substr(body.size()) !=
      std::string_view(reinterpret_cast<const char *>(digest.data()),
                       digest.size()))
    return fail("plan.digest", "the plan is damaged: its digest differs");
  uint64_t headerSize = 0;
  for (int i = 0; i < 8; ++i)
    headerSize |= uint64_t{static_cast<unsigned char>(body[8 + i])} << (8 * i);
  body.remove_prefix(kFixedBytes);
  if (headerSize > body.size() || nestsTooDeep(body.substr(0, headerSize)))
    return fail("plan.format", "the header is malformed");
  llvm::Expected<json::Value> value =
      json::parse(llvm::StringRef(body.data(), headerSize));
  if (!value)
    return fail("plan.format", llvm::toString(value.takeError()));
  const json::Object *header = value->getAsObject();
  if (!header)
    return fail("plan.format", "the header is not an object");
  if (header->getInteger("version") != Plan::kVersion)
    return fail("plan.version", "the plan is of another version of azulejo");
  Plan plan;
  Reader in;
  readHeader(in, *header, body.substr(headerSize), plan);
  if (in.failed())
    return fail("plan.format", in.problem);
  if (Status status = validate(plan, where); !status)
    return status.error();
  if (serialize(plan) != bytes)
    return fail("plan.format", "the header is not in canonical form");
  return plan;
}

} // namespace azulejo::plan
