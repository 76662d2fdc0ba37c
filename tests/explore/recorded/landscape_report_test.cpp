#include "tensmith/explore/recorded/landscape_report.h"

#include <gtest/gtest.h>

#include "explore/recorded/race_spaces.h"

namespace tensmith {
namespace {

size_t count(const std::string& text, std::string_view part) {
  size_t out = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++out;
  return out;
}

// 1 - 3 - 2 - 2.5 - failed - missing: minima at 1 and 2; better neighbours of 3 (two) and of 2.5 (one).
const RecordedSpace& path() {
  static const RecordedSpace space = testing::row_space("path,1", "k<", {1, 3, 2, 2.5, -1, 0});
  return space;
}

TEST(FlowGraph, PointsMinimaAndBetterNeighbours) {
  const std::string svg = draw_flow_graph(path(), analyse_landscape(path()));
  EXPECT_EQ(count(svg, "r=\"1.6\""), 2u);                // plain points
  EXPECT_EQ(count(svg, "<rect class=\"s2 spot\""), 1u);  // the optimum
  EXPECT_EQ(count(svg, "<circle class=\"s1 spot\""), 1u);
  const size_t flow = svg.find("class=\"flow\" d=\"");
  ASSERT_NE(flow, std::string::npos);
  const std::string lines = svg.substr(flow, svg.find('>', flow) - flow);
  EXPECT_EQ(count(lines, "M"), 3u);
  EXPECT_NE(svg.find("<title>x=0: 1.000 of the optimum"), std::string::npos);
  EXPECT_NE(svg.find("path,1: 4 valid points of 6"), std::string::npos);
}

TEST(FlowGraph, LargeSpacesAreNotDrawn) {
  std::vector<double> values(1501, 1.0);
  const RecordedSpace space = testing::row_space("large", "k", values);
  EXPECT_FALSE(can_draw_flow_graph(space));
  EXPECT_EQ(draw_flow_graph(space, Landscape()), "");
  values.pop_back();
  EXPECT_TRUE(can_draw_flow_graph(testing::row_space("small", "k", values)));
  EXPECT_FALSE(can_draw_flow_graph(testing::row_space("none", "k", {0, -1})));
}

TEST(LandscapeReport, Figures) {
  const Landscape landscape = analyse_landscape(path());
  const SpaceLandscape pair{&path(), &landscape};
  const std::string html = landscape_report({&pair, 1});
  EXPECT_EQ(count(html, "<svg "), 3u);  // minima, centrality, flow graph
  EXPECT_EQ(html.find("k<:"), std::string::npos);
  EXPECT_NE(html.find("k&lt;: local minima"), std::string::npos);
  RaceCell cell{.space = "path,1", .kernel = "k<", .algorithm = "first-ils", .budget = 2};
  cell.runs = {{0.5, 2, false}, {1.0, 2, true}};
  const std::string with_searches = landscape_report({&pair, 1}, {&cell, 1});
  EXPECT_EQ(count(with_searches, "<svg "), 4u);
  EXPECT_NE(with_searches.find("k&lt;: first-ils"), std::string::npos);
  EXPECT_NE(with_searches.find("mean of 2 runs"), std::string::npos);
}

TEST(LandscapeReport, Tables) {
  const Landscape landscape = analyse_landscape(path());
  const SpaceLandscape pair{&path(), &landscape};
  const std::string centrality = centrality_csv({&pair, 1});
  EXPECT_EQ(count(centrality, "\n"), 17u);
  EXPECT_EQ(centrality.rfind("space,p,value,acceptable\n\"path,1\",0,", 0), 0u);
  const std::string minima = minima_csv({&pair, 1});
  EXPECT_EQ(minima.rfind("space,config,fraction,pagerank\n\"path,1\",x=0,1,0.", 0), 0u) << minima;
  EXPECT_NE(minima.find("\n\"path,1\",x=2,0.5,0."), std::string::npos) << minima;
}

}  // namespace
}  // namespace tensmith
