//===- Devices.cpp - azulejo devices --------------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tools/azulejo/Program.h"

namespace azulejo::cli {

namespace {
class Devices : public Verb {
public:
  void declare(Options &options) override {
    options.flag("--measure", measure,
                 "Measure this CPU: copy bandwidth, multiply-add rate");
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
    Json measured;
    if (measure) {
      console.progress("measuring this CPU ...");
      Result<std::string> rates = measureHost(static_cast<int32_t>(threads));
      if (!rates)
        return rates.error();
      Result<Json> parsed = Json::parse(*rates, "measured rates");
      if (!parsed)
        return parsed.error();
      measured = *std::move(parsed);
    }
    Report report;
    addDevices(report, *rows, measured);
    if (Status status = console.print(report); !status)
      return status.error();
    return kOk;
  }

private:
  static void addDevices(Report &report, const Json &rows,
                         const Json &measured) {
    Table &table = report.table("devices", "",
                                {"device", "label", "arch", "units", "l2_bytes",
                                 "smem_bytes", "memory_gbs", "f32_tflops",
                                 "f16_tflops", "ridge_f16", "rates"});
    bool isHost = true; // the first row is this machine
    for (const Json &row : rows.items()) {
      bool fresh = isHost && !measured.isNull();
      double gbs = fresh ? measured["memory_gbs"].real()
                         : row["memory_gbs"].real(),
             f32 = fresh ? measured["f32_tflops"].real()
                         : row["f32_tflops"].real(),
             f16 = fresh ? f32 : row["f16_tflops"].real();
      table.rows.push_back(
          {row["name"].text(), row["label"].text(), row["arch"].text(),
           Cell::count(row["units"].integer()),
           Cell::amount(row["l2_bytes"].real(), "B"),
           Cell::amount(row["smem_per_block"].real(), "B"), Cell::real(gbs, 0),
           Cell::real(f32, 2), Cell::real(f16, 2),
           Cell::real(gbs > 0 ? f16 * 1e3 / gbs : 0, 1),
           fresh || row["measured"].truth() ? "measured" : "nominal"});
      isHost = false;
    }
  }

  bool measure = false;
  int64_t threads = 0;
};
} // namespace

std::unique_ptr<Verb> makeDevices() { return std::make_unique<Devices>(); }

} // namespace azulejo::cli
