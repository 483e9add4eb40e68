//===- Report.h - results as a table, Markdown, CSV or JSON -----*- C++ -*-===//
//
// A verb fills a Report; the Report writes itself in the format that was asked
// for. People's formats show rounded numbers with units, machines' formats show
// the bare value under the same column. Results go to stdout and nothing else
// does.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TOOLS_AZULEJO_REPORT_H
#define AZULEJO_TOOLS_AZULEJO_REPORT_H

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace azulejo::cli {

enum class Format { Table, Markdown, Csv, Json };
enum class Style { Plain, Good, Warn, Bad };

/// One value: as people read it, as a JSON value, and in full for CSV.
struct Cell {
  std::string shown, json, full;
  bool right = false; ///< numbers align to the right
  Style style = Style::Plain;

  Cell(const std::string &text, Style style = Style::Plain);
  Cell(const char *text) : Cell(std::string(text)) {}
  static Cell count(int64_t value);
  /// A real number with `digits` after the point.
  static Cell real(double value, int digits);
  /// "12.3 MB"; decimal units.
  static Cell amount(double value, const char *unit);
  /// "1.23 ms" from microseconds.
  static Cell time(double microseconds);
  /// "61.2 %" from 0.612.
  static Cell share(double fraction);
  static Cell truth(bool value);
  static Cell none();
};

struct Table {
  std::string key; ///< its name in JSON: "kernels"
  std::string title;
  std::vector<std::string> columns; ///< as in JSON: "median_us"
  std::vector<std::vector<Cell>> rows;
};

class Report {
public:
  /// A single fact: "name: value" for people, a member in JSON.
  void fact(const std::string &key, Cell value);
  /// A sentence for people only.
  void line(const std::string &text);
  Table &table(const std::string &key, const std::string &title,
               std::vector<std::string> columns);
  std::string str(Format format, bool colour) const;

private:
  struct Item {
    enum { Fact, Line, TableItem } kind;
    std::string key;
    Cell value;
    size_t table = 0;
  };
  std::string json() const;
  std::vector<Item> items;
  std::deque<Table> tables; // references into it stay good
};

} // namespace azulejo::cli

#endif // AZULEJO_TOOLS_AZULEJO_REPORT_H
