#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Pictures and pages of reports: SVG inside HTML that needs no other file, with colours that follow the reader's
/// choice of light or dark and can be told apart by the colour-blind; lines differ by dashes and marks besides. Texts
/// may hold any character.

namespace tensmith::drawing {

/// Text as it may stand in HTML and SVG, attributes included.
std::string escape(std::string_view text);

/// The page: style sheet, heading, body (HTML).
std::string page(std::string_view title, std::string_view body);

struct Point {
  double x = 0.0;
  double y = 0.0;
  double low = 0.0;  ///< of the band; no band where low and high are equal
  double high = 0.0;
};

struct Series {
  std::string name;
  std::vector<Point> points;  ///< by x
  int style = 0;              ///< equal styles look alike
};

enum class Scale : uint8_t { kLinear, kLog };

/// Lines over a common axis, with their names beside them.
struct LineChart {
  std::string title;
  std::string x_label;
  std::string y_label;
  Scale x_scale = Scale::kLinear;
  std::vector<double> x_ticks;  ///< empty: round numbers
  bool percent_x = false;       ///< ticks of a linear axis as per cent
  std::vector<Series> series;
};
std::string line_chart(const LineChart& chart);

/// Columns of points side by side, one a name, each with a mark at its median: how a value is distributed.
struct StripChart {
  std::string title;
  std::string y_label;
  struct Column {
    std::string name;
    std::vector<double> values;  ///< any order
    int style = 0;
  };
  std::vector<Column> columns;
};
std::string strip_chart(const StripChart& chart);

/// A matrix of counts; the darker, the more.
struct HeatMap {
  std::string title;
  std::string row_label;
  std::string column_label;
  std::vector<std::string> names;  ///< of rows and columns alike
  std::vector<int> values;         ///< row by row; the diagonal stays empty
};
std::string heat_map(const HeatMap& map);

/// Points and lines between them, over a vertical axis; some points stand out.
struct NodeGraph {
  enum class Kind : uint8_t { kPlain, kGood, kOther };
  struct Node {
    double x = 0.0;  ///< 0 to 1
    double y = 0.0;
    Kind kind = Kind::kPlain;
    double weight = 0.0;  ///< 0 to 1: its size; of plain ones it does not matter
    std::string label;    ///< of those that stand out
  };
  std::string title;
  std::string y_label;
  std::vector<Node> nodes;
  std::vector<std::pair<int, int>> edges;
};
std::string node_graph(const NodeGraph& graph);

/// A table with a header row; the first column is left-aligned. `marked` cells (row, column) stand out.
struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::pair<size_t, size_t>> marked;
};
std::string table(const Table& table);

}  // namespace tensmith::drawing
