#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tensmith/explore/recorded/race.h"

/// The search algorithms of this library as contenders of a race, by the names of the command line.

namespace tensmith {

struct ContenderOptions {
  /// Whether a search that has converged begins anew until the budget is used up. In the published study it ends.
  bool restart = false;
};

/// All names of algorithms.
std::vector<std::string> contender_names();

/// The algorithm of that name with the hyper-parameters that are the default for a budget. Throws UserError for an
/// unknown name.
Contender make_contender(std::string_view name, const ContenderOptions& options = {});

/// "a,b,c"; for names of groups, all of them that can take part in a race for this objective: "model" are those that
/// fit a model to what they have seen (to a budget of 400 unless they are named one by one: it takes seconds to hours),
/// "no-model" the others, "all" both. Throws UserError for unknown names and for those that are there twice.
std::vector<Contender> make_contenders(std::string_view names, Objective objective,
                                       const ContenderOptions& options = {});

}  // namespace tensmith
