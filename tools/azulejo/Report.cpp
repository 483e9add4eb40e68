//===- Report.cpp - results as a table, Markdown, CSV or JSON -------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tools/azulejo/Report.h"

#include "tools/azulejo/Json.h"

#include <algorithm>
#include <cmath>
#include <fmt/core.h>

namespace azulejo::cli {

/// Labels come from files: no control character reaches a terminal.
static std::string printable(const std::string &text) {
  std::string out;
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7f ? ' ' : c;
  }
  return out;
}

/// Terminal columns, as far as one code point is one column.
static size_t widthOf(const std::string &text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
      }));
}

Cell::Cell(const std::string &text, Style style)
    : shown(printable(text)), json(quoted(text)), full(shown), style(style) {}

static Cell number(std::string shown, std::string json) {
  Cell cell(shown);
  cell.json = std::move(json);
  cell.right = true;
  return cell;
}

/// The shortest text that reads back as the value; JSON has no NaN.
static std::string exact(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "null";
}

Cell Cell::count(int64_t value) {
  return number(std::to_string(value), std::to_string(value));
}

Cell Cell::real(double value, int digits) {
  return number(fmt::format("{:.{}f}", value, digits), exact(value));
}

Cell Cell::amount(double value, const char *unit) {
  static constexpr const char *prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  double scaled = value;
  size_t prefix = 0;
  for (; scaled >= 999.95 && prefix + 1 < std::size(prefixes); ++prefix)
    scaled /= 1000;
  return number(fmt::format("{:.{}f} {}{}", scaled, prefix ? 1 : 0,
                            prefixes[prefix], unit),
                exact(value));
}

Cell Cell::time(double us) {
  std::string shown = us < 1     ? fmt::format("{:.0f} ns", us * 1e3)
                      : us < 1e3 ? fmt::format("{:.2f} us", us)
                      : us < 1e6 ? fmt::format("{:.3f} ms", us / 1e3)
                                 : fmt::format("{:.3f} s", us / 1e6);
  return number(shown, exact(us));
}

Cell Cell::share(double fraction) {
  return number(fmt::format("{:.1f} %", fraction * 100), exact(fraction));
}

Cell Cell::truth(bool value) {
  Cell cell(value ? "yes" : "no");
  cell.json = value ? "true" : "false";
  return cell;
}

Cell Cell::none() {
  Cell cell("-");
  cell.json = "null";
  cell.right = true;
  return cell;
}

void Report::fact(const std::string &key, Cell value) {
  items.push_back({Item::Fact, key, std::move(value)});
}

void Report::line(const std::string &text) {
  items.push_back({Item::Line, {}, Cell(text)});
}

Table &Report::table(const std::string &key, const std::string &title,
                     std::vector<std::string> columns) {
  items.push_back({Item::TableItem, key, Cell(title), tables.size()});
  tables.push_back({key, title, std::move(columns), {}});
  return tables.back();
}

static std::string padded(const std::string &text, size_t width, bool right) {
  std::string space(width - std::min(width, widthOf(text)), ' ');
  return right ? space + text : text + space;
}

static std::string coloured(const std::string &text, Style style) {
  switch (style) {
  case Style::Good:
    return "\x1b[32m" + text + "\x1b[0m";
  case Style::Warn:
    return "\x1b[33m" + text + "\x1b[0m";
  case Style::Bad:
    return "\x1b[31m" + text + "\x1b[0m";
  case Style::Plain:
    break;
  }
  return text;
}

/// "median_us" is what JSON calls it; people read "median us".
static std::string heading(std::string column) {
  std::replace(column.begin(), column.end(), '_', ' ');
  return column;
}

static std::string plainTable(const Table &table, bool colour) {
  std::vector<size_t> widths;
  for (size_t c = 0; c < table.columns.size(); ++c) {
    size_t width = widthOf(table.columns[c]);
    for (const std::vector<Cell> &row : table.rows)
      width = std::max(width, widthOf(row[c].shown));
    widths.push_back(width);
  }
  auto rightAligned = [&](size_t c) {
    return !table.rows.empty() && table.rows.front()[c].right;
  };
  std::string out;
  auto endLine = [&] {
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  };
  for (size_t c = 0; c < table.columns.size(); ++c)
    out += (c ? "  " : "") +
           padded(heading(table.columns[c]), widths[c], rightAligned(c));
  endLine();
  for (const std::vector<Cell> &row : table.rows) {
    for (size_t c = 0; c < row.size(); ++c) {
      std::string text = padded(row[c].shown, widths[c], row[c].right);
      out += (c ? "  " : "") + (colour ? coloured(text, row[c].style) : text);
    }
    endLine();
  }
  return out;
}

static std::string markdownTable(const Table &table) {
  auto escaped = [](const std::string &text) {
    std::string out;
    for (char c : text)
      out += c == '|' ? "\\|" : std::string(1, c);
    return out;
  };
  std::string out = "|", rule = "|";
  for (size_t c = 0; c < table.columns.size(); ++c) {
    out += " " + heading(table.columns[c]) + " |";
    rule += !table.rows.empty() && table.rows.front()[c].right ? " --: |"
                                                               : " --- |";
  }
  out += "\n" + rule + "\n";
  for (const std::vector<Cell> &row : table.rows) {
    out += "|";
    for (const Cell &cell : row)
      out += " " + escaped(cell.shown) + " |";
    out += "\n";
  }
  return out;
}

/// The bare value, quoted where CSV needs it.
static std::string csvField(const Cell &cell) {
  if (cell.json == "null")
    return "";
  if (cell.json.empty() || cell.json[0] != '"')
    return cell.json;
  if (cell.full.find_first_of(",\"") == std::string::npos)
    return cell.full;
  std::string out = "\"";
  for (char c : cell.full)
    out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

static std::string csvTable(const Table &table) {
  std::string out;
  for (size_t c = 0; c < table.columns.size(); ++c)
    out += (c ? "," : "") + table.columns[c];
  out += "\n";
  for (const std::vector<Cell> &row : table.rows) {
    for (size_t c = 0; c < row.size(); ++c)
      out += (c ? "," : "") + csvField(row[c]);
    out += "\n";
  }
  return out;
}

std::string Report::json() const {
  std::string out = "{";
  bool first = true;
  for (const Item &item : items) {
    if (item.kind == Item::Line)
      continue;
    out += (first ? "\n  " : ",\n  ") + quoted(item.key) + ": ";
    first = false;
    if (item.kind == Item::Fact) {
      out += item.value.json;
      continue;
    }
    const Table &table = tables[item.table];
    out += "[";
    for (size_t r = 0; r < table.rows.size(); ++r) {
      out += r ? ",\n    {" : "\n    {";
      for (size_t c = 0; c < table.columns.size(); ++c)
        out += (c ? ", " : "") + quoted(table.columns[c]) + ": " +
               table.rows[r][c].json;
      out += "}";
    }
    out += table.rows.empty() ? "]" : "\n  ]";
  }
  return out + "\n}\n";
}

std::string Report::str(Format format, bool colour) const {
  if (format == Format::Json)
    return json();
  std::string out;
  bool severalTables = tables.size() > 1;
  for (const Item &item : items) {
    if (item.kind == Item::Fact) {
      // CSV holds tables; a fact would make it unreadable for machines.
      if (format != Format::Csv)
        out += (format == Format::Markdown ? "- " : "") + heading(item.key) +
               ": " + item.value.shown + "\n";
      continue;
    }
    if (item.kind == Item::Line) {
      if (format != Format::Csv)
        out += item.value.shown + "\n";
      continue;
    }
    const Table &table = tables[item.table];
    if (!out.empty())
      out += "\n";
    if (format == Format::Csv) {
      out += severalTables ? "# " + table.key + "\n" : "";
      out += csvTable(table);
      continue;
    }
    if (!table.title.empty())
      out += (format == Format::Markdown ? "**" + table.title + "**\n\n"
                                         : table.title + "\n");
    out += format == Format::Markdown ? markdownTable(table)
                                      : plainTable(table, colour);
  }
  return out;
}

} // namespace azulejo::cli
