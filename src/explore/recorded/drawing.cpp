#include "explore/recorded/drawing.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "tensmith/support/stats.h"

namespace tensmith::drawing {
namespace {

// Okabe and Ito's colours, but for the yellow that white paper swallows.
constexpr std::string_view kStyleSheet = R"css(
:root{color-scheme:light dark;--bg:#fff;--fg:#1a1a1a;--dim:#666;--grid:#ddd;--heat:#0072b2;--on-heat:#fff;--mark:#e8f1fa;
--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#cc79a7;--c4:#56b4e9;--c5:#b87d00;--c6:#555}
@media (prefers-color-scheme:dark){:root{--bg:#16181c;--fg:#e8e8e8;--dim:#a0a0a0;--grid:#3a3d42;--heat:#56b4e9;--on-heat:#000;
--mark:#24384a;--c0:#4aa3df;--c1:#f07f2e;--c2:#2fc49a;--c3:#e39cc4;--c4:#8fd0f7;--c5:#e6a93a;--c6:#bbb}}
body{background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,sans-serif;max-width:1180px;margin:2rem auto;padding:0 1rem}
h1{font-size:1.6rem}h2{font-size:1.25rem;margin-top:2.2rem;border-bottom:1px solid var(--grid)}h3{font-size:1.05rem}
p.note{color:var(--dim);max-width:60rem}figure{margin:1rem 0;overflow-x:auto}summary{cursor:pointer;font-weight:600}
.pair{display:flex;flex-wrap:wrap;gap:1rem}
table{border-collapse:collapse;margin:.8rem 0;font-variant-numeric:tabular-nums}
th,td{padding:.15rem .6rem;text-align:right;border-bottom:1px solid var(--grid)}th:first-child,td:first-child{text-align:left}
td.mark{background:var(--mark);font-weight:600}
svg{font:12px system-ui,sans-serif}svg text{fill:var(--fg)}svg .title{font-size:14px;font-weight:600}svg .dim{fill:var(--dim)}
svg .grid{stroke:var(--grid);stroke-width:1}svg .axis{stroke:var(--fg);stroke-width:1}
svg .line{fill:none;stroke-width:2;stroke-linejoin:round}svg .band{stroke:none;opacity:.13}svg .heat{fill:var(--heat)}
svg .flow{fill:none;stroke:var(--c0);stroke-width:.6;opacity:.3}svg .dot{fill:var(--dim)}svg .spot{fill-opacity:.7}
svg .on{fill:var(--on-heat)}svg .median{stroke:var(--fg);stroke-width:2.5}
svg .series{transition:opacity .1s}svg:hover .series{opacity:.3}svg:hover .series:hover{opacity:1}
.s0{stroke:var(--c0);fill:var(--c0)}.s1{stroke:var(--c1);fill:var(--c1)}.s2{stroke:var(--c2);fill:var(--c2)}
.s3{stroke:var(--c3);fill:var(--c3)}.s4{stroke:var(--c4);fill:var(--c4)}.s5{stroke:var(--c5);fill:var(--c5)}
.s6{stroke:var(--c6);fill:var(--c6)}
)css";

constexpr int kColours = 7;
constexpr const char* kDashes[] = {"", "7 3", "2 3"};

std::string colour(int style) { return fmt::format("s{}", style % kColours); }
int shape(int style) { return style / kColours % 3; }

std::string text(double x, double y, std::string_view content, std::string_view attributes = {}) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>", x, y, attributes, escape(content));
}

std::string rule(double x1, double y1, double x2, double y2, std::string_view name) {
  return fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>", name, x1, y1, x2,
                     y2);
}

std::string mark(double x, double y, int style) {
  constexpr double r = 3.2;
  switch (shape(style)) {
    case 0: return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" stroke=\"none\"/>", x, y, r);
    case 1:
      return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\" stroke=\"none\"/>", x - r, y - r,
                         2 * r, 2 * r);
    default:
      return fmt::format("<path d=\"M{:.1f} {:.1f}l{} {}h-{}z\" stroke=\"none\"/>", x, y - r - 1, r + 0.6, 2 * r + 0.6,
                         2 * r + 1.2);
  }
}

/// Round numbers from at most `low` to at least `high`.
std::vector<double> round_ticks(double low, double high) {
  const double span = std::max(high - low, 1e-3 * std::max(1.0, std::abs(high)));
  double step = std::pow(10.0, std::floor(std::log10(span / 4)));
  for (const double factor : {2.0, 2.5, 2.0}) {
    if (span / step <= 8) break;
    step *= factor;
  }
  std::vector<double> out;
  const double first = std::floor(low / step + 1e-9);
  for (int i = 0; out.size() < 2 || out.back() < high - 1e-9; ++i) out.push_back((first + i) * step);
  return out;
}

std::string number(double value) {
  const std::string out = fmt::format("{:.6g}", value);
  return out == "-0" ? "0" : out;
}

/// A picture with a frame to draw in, and its axes.
struct Frame {
  double left = 64, top = 34, width = 620, height = 330;
  double x_low = 0, x_high = 1, y_low = 0, y_high = 1;
  bool log_x = false;

  double x(double value) const {
    const double part = log_x ? std::log(value / x_low) / std::log(x_high / x_low) : (value - x_low) / (x_high - x_low);
    return left + width * (std::isfinite(part) ? part : 0.5);
  }
  double y(double value) const { return top + height * (1 - (value - y_low) / (y_high - y_low)); }
  double right() const { return left + width; }
  double bottom() const { return top + height; }

  std::string y_axis(const std::vector<double>& ticks, std::string_view label) const {
    std::string out;
    for (const double tick : ticks) {
      out += rule(left, y(tick), right(), y(tick), "grid") +
             text(left - 8, y(tick) + 4, number(tick), "text-anchor=\"end\"");
    }
    return out + rule(left, top, left, bottom(), "axis") + rule(left, bottom(), right(), bottom(), "axis") +
           text(0, 0, label,
                fmt::format("text-anchor=\"middle\" class=\"dim\" transform=\"translate(15,{:.1f}) rotate(-90)\"",
                            top + height / 2));
  }
};

std::string picture(double width, double height, std::string_view title, std::string_view body) {
  return fmt::format(
      "<figure><svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" role=\"img\" aria-label=\"{2}\">{3}{4}</svg></figure>\n",
      width, height, escape(title), text(12, 18, title, "class=\"title\""), body);
}

std::string one_series(const Frame& frame, const Series& series, double legend_y) {
  std::string line, upper, lower, marks;
  bool banded = false;
  for (size_t i = 0; i < series.points.size(); ++i) {
    const Point& p = series.points[i];
    const double x = frame.x(p.x);
    line += fmt::format("{}{:.1f} {:.1f}", i == 0 ? "M" : "L", x, frame.y(p.y));
    upper += fmt::format("{}{:.1f} {:.1f}", i == 0 ? "M" : "L", x, frame.y(std::min(p.high, frame.y_high)));
    lower = fmt::format("L{:.1f} {:.1f}", x, frame.y(std::max(p.low, frame.y_low))) + lower;
    banded = banded || p.high > p.low;
    if (series.points.size() <= 20) marks += mark(x, frame.y(p.y), series.style);
  }
  const std::string dash = kDashes[shape(series.style)];
  const double swatch = frame.right() + 18;
  return fmt::format(
      "<g class=\"series {}\"><title>{}</title>{}<path class=\"line\" stroke-dasharray=\"{}\" d=\"{}\"/>{}"
      "<path class=\"line\" stroke-dasharray=\"{}\" d=\"M{:.1f} {:.1f}h26\"/>{}{}</g>",
      colour(series.style), escape(series.name),
      banded ? fmt::format("<path class=\"band\" d=\"{}{}z\"/>", upper, lower) : "", dash, line, marks, dash, swatch,
      legend_y, mark(swatch + 13, legend_y, series.style),
      text(swatch + 34, legend_y + 4, series.name, "stroke=\"none\""));
}

}  // namespace

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;  // no XML may hold control characters
    }
  }
  return out;
}

std::string page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\"><title>{0}</title><style>{1}</style></head>\n"
      "<body><h1>{0}</h1>\n{2}</body></html>\n",
      escape(title), kStyleSheet, body);
}

std::string line_chart(const LineChart& chart) {
  Frame frame;
  frame.log_x = chart.x_scale == Scale::kLog;
  double x_low = 1e300, x_high = -1e300, y_low = 1e300, y_high = -1e300;
  for (const Series& series : chart.series) {
    for (const Point& p : series.points) {
      x_low = std::min(x_low, p.x);
      x_high = std::max(x_high, p.x);
      y_low = std::min({y_low, p.y, p.low < p.high ? p.low : p.y});
      y_high = std::max(y_high, p.y);
    }
  }
  if (x_low > x_high) return "";
  const std::vector<double> y_ticks = round_ticks(y_low, y_high);
  std::vector<double> x_ticks = chart.x_ticks.empty() ? round_ticks(x_low, x_high) : chart.x_ticks;
  frame.x_low = std::min(x_low, x_ticks.front());
  frame.x_high = std::max(x_high, x_ticks.back());
  frame.y_low = y_ticks.front();
  frame.y_high = y_ticks.back();
  std::string body = frame.y_axis(y_ticks, chart.y_label);
  for (const double tick : x_ticks) {
    const double x = frame.x(tick);
    body += rule(x, frame.top, x, frame.bottom(), "grid") +
            text(x, frame.bottom() + 18, chart.percent_x ? number(100 * tick) + " %" : number(tick),
                 "text-anchor=\"middle\"");
  }
  body +=
      text(frame.left + frame.width / 2, frame.bottom() + 38, chart.x_label, "text-anchor=\"middle\" class=\"dim\"");
  double legend_y = frame.top + 8;
  size_t longest = 0;
  for (const Series& series : chart.series) {
    body += one_series(frame, series, legend_y);
    legend_y += 18;
    longest = std::max(longest, series.name.size());
  }
  const double width = frame.right() + 60 + 7.0 * static_cast<double>(longest);
  return picture(width, std::max(frame.bottom() + 50, legend_y + 8), chart.title, body);
}

std::string strip_chart(const StripChart& chart) {
  double low = 1e300, high = -1e300;
  for (const auto& column : chart.columns) {
    for (const double value : column.values) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  if (low > high) return "";
  const std::vector<double> ticks = round_ticks(low, high);
  Frame frame;
  frame.y_low = ticks.front();
  frame.y_high = ticks.back();
  const double pitch = 74;
  frame.width = pitch * static_cast<double>(chart.columns.size());
  std::string body = frame.y_axis(ticks, chart.y_label);
  for (size_t c = 0; c < chart.columns.size(); ++c) {
    const auto& column = chart.columns[c];
    const double centre = frame.left + pitch * (static_cast<double>(c) + 0.5);
    body += fmt::format("<g class=\"series {}\"><title>{}: {} values</title>", colour(column.style),
                        escape(column.name), column.values.size());
    for (size_t i = 0; i < column.values.size(); ++i) {
      // Spread evenly without chance (the golden section), so that equal values stay visible.
      const double part = std::fmod(0.5 + 0.6180339887498949 * static_cast<double>(i), 1.0) - 0.5;
      body += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2\" stroke=\"none\" opacity=\".5\"/>",
                          centre + part * 0.62 * pitch, frame.y(column.values[i]));
    }
    if (!column.values.empty()) {
      const double y = frame.y(stats::median(column.values));
      body += rule(centre - 0.38 * pitch, y, centre + 0.38 * pitch, y, "median");
    }
    body += "</g>" + text(0, 0, column.name,
                          fmt::format("text-anchor=\"end\" transform=\"translate({:.1f},{:.1f}) rotate(-35)\"",
                                      centre + 6, frame.bottom() + 16));
  }
  return picture(frame.right() + 20, frame.bottom() + 120, chart.title, body);
}

std::string heat_map(const HeatMap& map) {
  const size_t n = map.names.size();
  const int most = std::max(1, n == 0 ? 1 : *std::max_element(map.values.begin(), map.values.end()));
  size_t longest = 0;
  for (const std::string& name : map.names) longest = std::max(longest, name.size());
  const double cell = 30, label = 14 + 6.6 * static_cast<double>(longest);
  const double left = 24 + label, top = 52 + label * 0.8;
  const double side = cell * static_cast<double>(n);
  std::string body;
  for (size_t i = 0; i < n; ++i) {
    const double place = cell * (static_cast<double>(i) + 0.5);
    body += text(left - 6, top + place + 4, map.names[i], "text-anchor=\"end\"");
    body += text(0, 0, map.names[i],
                 fmt::format("transform=\"translate({:.1f},{:.1f}) rotate(-50)\"", left + place + 2, top - 6));
    for (size_t j = 0; j < n; ++j) {
      if (i == j) continue;
      const int value = map.values[i * n + j];
      const double share = static_cast<double>(value) / most;
      const double x = left + cell * static_cast<double>(j), y = top + cell * static_cast<double>(i);
      body += fmt::format(
          "<g><title>{} {} {}: {}</title><rect class=\"heat\" x=\"{:.0f}\" y=\"{:.0f}\" width=\"{}\" height=\"{}\" "
          "fill-opacity=\"{:.3f}\"/>{}</g>",
          escape(map.names[j]), escape(map.column_label), escape(map.names[i]), value, x, y, cell - 1, cell - 1, share,
          text(x + cell / 2 - 0.5, y + cell / 2 + 4, fmt::format("{}", value),
               share > 0.55 ? "text-anchor=\"middle\" class=\"on\"" : "text-anchor=\"middle\""));
    }
  }
  body +=
      text(left + side / 2, top + side + 20, map.column_label + " (column)", "text-anchor=\"middle\" class=\"dim\"");
  body += text(0, 0, map.row_label + " (row)",
               fmt::format("text-anchor=\"middle\" class=\"dim\" transform=\"translate(14,{:.1f}) rotate(-90)\"",
                           top + side / 2));
  return picture(left + side + label * 0.65, top + side + 32, map.title, body);
}

std::string node_graph(const NodeGraph& graph) {
  if (graph.nodes.empty()) return "";
  double low = graph.nodes.front().y, high = low;
  for (const auto& node : graph.nodes) {
    low = std::min(low, node.y);
    high = std::max(high, node.y);
  }
  const std::vector<double> ticks = round_ticks(low, high);
  Frame frame;
  frame.width = 1000;
  frame.height = 560;
  frame.y_low = ticks.front();
  frame.y_high = ticks.back();
  std::string body = frame.y_axis(ticks, graph.y_label);
  std::string lines, plain, marked;
  for (const auto& [from, to] : graph.edges) {
    const auto& a = graph.nodes[static_cast<size_t>(from)];
    const auto& b = graph.nodes[static_cast<size_t>(to)];
    lines += fmt::format("M{:.0f} {:.0f}L{:.0f} {:.0f}", frame.x(a.x), frame.y(a.y), frame.x(b.x), frame.y(b.y));
  }
  for (const auto& node : graph.nodes) {
    const double x = frame.x(node.x), y = frame.y(node.y);
    if (node.kind == NodeGraph::Kind::kPlain) {
      plain += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"1.6\"/>", x, y);
      continue;
    }
    const double r = 3.0 + 8.0 * std::sqrt(node.weight);
    const std::string title = fmt::format("<title>{}</title>", escape(node.label));
    marked += node.kind == NodeGraph::Kind::kGood
                  ? fmt::format(
                        "<rect class=\"s2 spot\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
                        "height=\"{:.1f}\">{}</rect>",
                        x - r, y - r, 2 * r, 2 * r, title)
                  : fmt::format("<circle class=\"s1 spot\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\">{}</circle>", x, y,
                                r, title);
  }
  body += fmt::format("<path class=\"flow\" d=\"{}\"/><g class=\"dot\">{}</g>{}", lines, plain, marked);
  return picture(frame.right() + 24, frame.bottom() + 24, graph.title, body);
}

std::string table(const Table& table) {
  std::string out = "<table><tr>";
  for (const std::string& name : table.header) out += "<th>" + escape(name) + "</th>";
  out += "</tr>\n";
  for (size_t row = 0; row < table.rows.size(); ++row) {
    out += "<tr>";
    for (size_t column = 0; column < table.rows[row].size(); ++column) {
      const bool marked =
          std::find(table.marked.begin(), table.marked.end(), std::pair(row, column)) != table.marked.end();
      out += fmt::format("<td{}>{}</td>", marked ? " class=\"mark\"" : "", escape(table.rows[row][column]));
    }
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

}  // namespace tensmith::drawing
