#include "tensmith/explore/recorded/race_report.h"

#include <gtest/gtest.h>

#include "explore/recorded/drawing.h"

namespace tensmith {
namespace {

RaceCell cell(std::string space, std::string kernel, std::string algorithm, int64_t budget,
              const std::vector<double>& fractions) {
  RaceCell out{
      .space = std::move(space), .kernel = std::move(kernel), .algorithm = std::move(algorithm), .budget = budget};
  for (const double fraction : fractions) out.runs.push_back({fraction, budget, fraction == 1.0});
  return out;
}

size_t count(const std::string& text, std::string_view part) {
  size_t out = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++out;
  return out;
}

/// Whether every tag that is opened is closed, in the right order.
bool well_formed(const std::string& html) {
  std::vector<std::string> open;
  for (size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
    const size_t end = html.find('>', at);
    if (end == std::string::npos) return false;
    const std::string tag = html.substr(at + 1, end - at - 1);
    const std::string name = tag.substr(tag[0] == '/' ? 1 : 0, tag.find_first_of(" >", 1) - (tag[0] == '/' ? 1 : 0));
    if (tag[0] == '!' || tag.back() == '/' || name == "meta") continue;
    if (tag[0] != '/') {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return false;
    } else {
      open.pop_back();
    }
  }
  return open.empty();
}

const std::vector<RaceCell> kCells = {
    cell("s1", "k", "a", 25, {0.5, 0.7}), cell("s1", "k", "b", 25, {0.4, 0.4}),  cell("s2", "l", "a", 25, {0.2, 0.2}),
    cell("s2", "l", "b", 25, {0.9, 1.0}), cell("s1", "k", "a", 400, {0.9, 0.9}), cell("s1", "k", "b", 400, {1.0, 1.0}),
};

TEST(RaceReport, MeansOverSpacesWeighAlike) {
  const RaceTable all = tabulate(kCells);
  EXPECT_EQ(all.algorithms, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(all.budgets, (std::vector<int64_t>{25, 400}));
  EXPECT_NEAR(all.means[0][0], 0.4, 1e-15);
  EXPECT_NEAR(all.means[1][0], 0.675, 1e-15);
  // Standard errors of the spaces: 0.1 and 0.
  EXPECT_NEAR(all.errors[0][0], 0.05, 1e-15);
  EXPECT_TRUE(all.best(1, 0));
  EXPECT_FALSE(all.best(0, 0));
  const RaceTable one = tabulate(kCells, "l");
  EXPECT_NEAR(one.means[1][0], 0.95, 1e-15);
  EXPECT_LT(one.means[1][1], 0.0);
  EXPECT_FALSE(one.best(1, 1));
  EXPECT_NEAR(tabulate(kCells, {}, "s1").means[0][0], 0.6, 1e-15);
}

TEST(RaceReport, HoldsEverythingAndNothingFromElsewhere) {
  const std::string html = race_report(kCells, {.splits = {100, 200}});
  EXPECT_TRUE(well_formed(html));
  // Curves of two kernels and two spaces; heat maps of two splits, two ranges and k, l, all.
  EXPECT_EQ(count(html, "<svg "), 4u + 12u);
  EXPECT_EQ(count(html, "http"), count(html, "http://www.w3.org/2000/svg"));
  EXPECT_EQ(count(html, "<script"), 0u);
  EXPECT_NE(html.find("prefers-color-scheme:dark"), std::string::npos);
  EXPECT_NE(html.find("<td class=\"mark\">0.6750 ± 0.0250</td>"), std::string::npos);
  EXPECT_NE(html.find("Welch"), std::string::npos);
  EXPECT_NE(race_report(kCells, {.competition = {.pooled = true, .pooled_count = 100}}).find("sample size of 100"),
            std::string::npos);
  EXPECT_NE(race_report({}).find("Nothing"), std::string::npos);
}

TEST(RaceReport, AnyNameIsAName) {
  std::vector<RaceCell> cells;
  for (const char* algorithm : {"<b>&\"'", "x\x01y"}) {
    cells.push_back(cell("<script>alert(1)</script>", "k]]>&lt;", algorithm, 25, {0.5, 0.7}));
    cells.back().device = "\"><img src=x>";
  }
  const std::string html = race_report(cells);
  EXPECT_TRUE(well_formed(html));
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_EQ(html.find("<img"), std::string::npos);
  EXPECT_EQ(html.find('\x01'), std::string::npos);
  EXPECT_NE(html.find("&lt;script&gt;alert(1)&lt;/script&gt;"), std::string::npos);
  EXPECT_NE(html.find("k]]&gt;&amp;lt;"), std::string::npos);
}

TEST(Drawing, HeatMapHasWinsOfTheColumnOverTheRow) {
  const std::string svg = drawing::heat_map(
      {.title = "t", .row_label = "loses", .column_label = "beats", .names = {"a", "b"}, .values = {0, 7, 3, 0}});
  EXPECT_NE(svg.find("<title>b beats a: 7</title>"), std::string::npos);
  EXPECT_NE(svg.find("<title>a beats b: 3</title>"), std::string::npos);
  EXPECT_EQ(count(svg, "<rect "), 2u);
  EXPECT_TRUE(well_formed(svg));
}

TEST(Drawing, ChartsOfLittleAndOfNothing) {
  drawing::LineChart chart{.title = "t", .x_label = "x", .y_label = "y"};
  EXPECT_EQ(drawing::line_chart(chart), "");
  for (const auto scale : {drawing::Scale::kLog, drawing::Scale::kLinear}) {
    chart.x_scale = scale;
    chart.x_ticks = {25};
    chart.series = {{"one", {{25, 1, 1, 1}}, 0}, {"none", {}, 1}};
    const std::string svg = drawing::line_chart(chart);
    EXPECT_TRUE(well_formed(svg));
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    EXPECT_EQ(svg.find("inf"), std::string::npos);
  }
  EXPECT_EQ(drawing::strip_chart({.title = "t", .y_label = "y", .columns = {{"a", {}, 0}}}), "");
  const std::string strips =
      drawing::strip_chart({.title = "t", .y_label = "y", .columns = {{"a", {1, 1, 1}, 0}, {"b", {}, 1}}});
  EXPECT_EQ(count(strips, "<circle "), 3u);
  EXPECT_TRUE(well_formed(strips));
  EXPECT_TRUE(well_formed(drawing::heat_map({})));
}

}  // namespace
}  // namespace tensmith
