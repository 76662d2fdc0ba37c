#include "tensmith/costmodel/gbt.h"
#include "tensmith/support/error.h"

namespace tensmith {

std::unique_ptr<CostModel> make_gbt(const GbtParams&) {
  throw WorkError("this build of Tensmith has no gradient-boosted trees",
                  "configure with -DTENSMITH_WITH_XGBOOST=ON, or choose --model=none");
}

bool gbt_available() { return false; }

}  // namespace tensmith
