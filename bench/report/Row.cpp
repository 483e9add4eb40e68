//===- Row.cpp - one measured line ----------------------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "bench/report/Row.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace azulejo::bench {

namespace {
/// The fields of one JSON object, in the order given.
class Fields {
public:
  void number(const std::string &name, double value) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.6g", value);
    raw(name, std::isfinite(value) ? text : "null");
  }
  void text(const std::string &name, const std::string &value) {
    std::string quoted = "\"";
    for (char c : value) {
      if (c == '"' || c == '\\')
        quoted += '\\';
      quoted += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    raw(name, quoted + '"');
  }
  void truth(const std::string &name, bool value) {
    raw(name, value ? "true" : "false");
  }
  void raw(const std::string &name, const std::string &json) {
    body += (body.empty() ? "\"" : ", \"") + name + "\": " + json;
  }
  std::string object() const { return "{" + body + "}"; }

private:
  std::string body;
};

std::string utcNow() {
  std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string metricsOf(const Row &row) {
  std::string list;
  for (const Metric &metric : row.metrics) {
    Fields fields;
    fields.text("name", metric.name);
    fields.number("value", metric.value);
    if (metric.kind != Metric::Reported) {
      fields.text("goal", metric.kind == Metric::AtLeast ? ">=" : "<=");
      fields.number("limit", metric.goal);
      fields.truth("pass", row.verdict.good && metric.met());
    }
    list += (list.empty() ? "" : ", ") + fields.object();
  }
  return "[" + list + "]";
}

void printLine(const Row &row, const Metric &metric) {
  char goal[32] = "";
  if (metric.kind != Metric::Reported)
    std::snprintf(goal, sizeof(goal), "%s %.3g",
                  metric.kind == Metric::AtLeast ? ">=" : "<=", metric.goal);
  const char *verdict = !row.verdict.good                 ? "WRONG"
                        : metric.kind == Metric::Reported ? ""
                        : metric.met()                    ? "pass"
                                                          : "miss";
  std::printf("%-40s %2d  %10.4g  %-22s %8.3g %-9s %s\n",
              (row.suite + "/" + row.name).c_str(), row.threads,
              row.ours.median(), metric.name.c_str(), metric.value, goal,
              verdict);
  std::fflush(stdout);
}
} // namespace

Reporter::Reporter(const std::string &path, std::string device,
                   std::string commit)
    : device(std::move(device)), commit(std::move(commit)) {
  if (!path.empty()) {
    file.open(path, std::ios::app);
    if (!file)
      fail("--out", path + " cannot be written");
  }
  std::printf("%-40s %2s  %10s  %-22s %8s %-9s\n", "case", "t", "ours ms",
              "metric", "value", "goal");
}

void Reporter::fail(const std::string &suite, const std::string &message) {
  failed = true;
  std::printf("%-40s FAILED: %s\n", suite.c_str(), message.c_str());
  std::fflush(stdout);
}

void Reporter::add(const Row &row) {
  failed |= !row.verdict.good;
  for (const Metric &metric : row.metrics)
    printLine(row, metric);
  Fields fields, peers;
  for (const PeerTime &peer : row.peers)
    peers.number(peer.name, peer.ms);
  fields.text("suite", row.suite);
  fields.text("case", row.name);
  fields.text("device", device);
  fields.text("commit", commit);
  fields.text("time", utcNow());
  fields.text("image", row.image);
  fields.number("threads", row.threads);
  fields.number("bytes", row.bytes);
  fields.number("flops", row.flops);
  fields.number("ours_ms", row.ours.median());
  fields.number("ours_p5_ms", row.ours.quantile(0.05));
  fields.number("ours_p95_ms", row.ours.quantile(0.95));
  fields.number("samples", double(row.ours.ms.size()));
  fields.raw("peer_ms", peers.object());
  fields.text("peer_core", row.peerCore);
  fields.number("floor_ms", row.floorMs);
  fields.truth("verified", row.verdict.good);
  fields.number("error", row.verdict.error);
  fields.raw("metrics", metricsOf(row));
  // Far above the threads in use, others were at work, and the times tell less.
  double load = 0;
  if (getloadavg(&load, 1) == 1)
    fields.number("load", load);
  for (const auto &[name, value] : row.extra)
    fields.number(name, value);
  if (file.is_open())
    file << fields.object() << std::endl;
}

} // namespace azulejo::bench
