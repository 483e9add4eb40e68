//===- Devices.cpp - azulejo devices --------------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tools/azulejo/Program.h"

#include <map>

namespace azulejo::cli {

namespace {
class Devices : public Verb {
public:
  void declare(Options &options) override {
    options.flag("--measure", measure,
                 "Measure this CPU and these GPUs: copies, multiply-adds");
    options.count("--threads", threads, 0, 4096,
                  "Threads to measure with; 0 is all of them");
  }

  Result<int> run(Console &console) override {
    Result<std::string> text = devices();
    if (!text)
      return text.error();
    Result<Json> rows = Json::parse(*text, "devices");
    if (!rows)
      return rows.error();
    std::map<std::string, Json> measured;
    for (const Json &row : rows->items()) {
      const std::string &name = row["name"].text();
      if (!measure || (name != "cpu" && !name.starts_with("cuda:")))
        continue;
      console.progress("measuring " + name + " ...");
      Result<std::string> rates = measureOne(name);
      if (!rates)
        return rates.error();
      Result<Json> parsed = Json::parse(*rates, "measured rates");
      if (!parsed)
        return parsed.error();
      measured[name] = *std::move(parsed);
    }
    Report report;
    addDevices(report, *rows, measured);
    if (Status status = console.print(report); !status)
      return status.error();
    return kOk;
  }

private:
  Result<std::string> measureOne(const std::string &name) const {
    if (name == "cpu")
      return measureHost(static_cast<int32_t>(threads));
    Result<Device> device = Device::open(name);
    return device ? azulejo::measure(*device)
                  : Result<std::string>(device.error());
  }

  static void addDevices(Report &report, const Json &rows,
                         const std::map<std::string, Json> &measured) {
    Table &table = report.table("devices", "",
                                {"device", "label", "arch", "units", "l2_bytes",
                                 "smem_bytes", "memory_gbs", "f32_tflops",
                                 "f16_tflops", "ridge_f16", "rates"});
    for (const Json &row : rows.items()) {
      auto known = measured.find(row["name"].text());
      bool fresh = known != measured.end();
      const Json &rates = fresh ? known->second : row;
      double gbs = rates["memory_gbs"].real(), f32 = rates["f32_tflops"].real(),
             // A CPU has one rate: halves are widened.
          f16 = rates["f16_tflops"].isNull() ? f32 : rates["f16_tflops"].real();
      table.rows.push_back(
          {row["name"].text(), row["label"].text(), row["arch"].text(),
           Cell::count(row["units"].integer()),
           Cell::amount(row["l2_bytes"].real(), "B"),
           Cell::amount(row["smem_per_block"].real(), "B"), Cell::real(gbs, 0),
           Cell::real(f32, 2), Cell::real(f16, 2),
           Cell::real(gbs > 0 ? f16 * 1e3 / gbs : 0, 1),
           fresh || row["measured"].truth() ? "measured" : "nominal"});
    }
  }

  bool measure = false;
  int64_t threads = 0;
};
} // namespace

std::unique_ptr<Verb> makeDevices() { return std::make_unique<Devices>(); }

} // namespace azulejo::cli
