#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "tensmith/ir/ops.h"
#include "tensmith/ir/visit.h"

namespace tensmith::testing {

enum class PadForm : uint8_t { kGuard, kSelect };

/// A tiled 2-D convolution as the lowering makes it: guards for tiles that do not divide, and for padding a guard or a
/// select.
struct ConvNest {
  int64_t channels = 2, outputs = 4;
  int64_t height = 14, width = 14, kernel = 3, stride = 1, dilation = 1;
  int64_t top = 1, left = 1, bottom = 1, right = 1;
  int64_t tile_h = 1, tile_w = 7;
  /// Second level inside the tile; 0: none.
  int64_t subtile_w = 0;
  PadForm pad = PadForm::kGuard;
  bool parallel = false;
  /// Order of the loops inside the output tile's own: i = ic, r, s, h = row of the tile, w = column, o = channel.
  std::string order = "irshwo";
  /// Kinds: u = unrolled, v = vectorized, anything else serial; same places as `order`.
  std::string kinds = "sssuuv";

  int64_t out_extent(int64_t in, int64_t before, int64_t after) const {
    return (in + before + after - dilation * (kernel - 1) - 1) / stride + 1;
  }
  int64_t out_height() const { return out_extent(height, top, bottom); }
  int64_t out_width() const { return out_extent(width, left, right); }

  Function build() const {
    const int64_t oh = out_height(), ow = out_width();
    const auto buffer = [](std::string_view name, std::vector<int64_t> shape) {
      return make_buffer(name, kFloat32, shape);
    };
    const Buffer a = buffer("A", {channels, height, width});
    const Buffer w = buffer("W", {outputs, channels, kernel, kernel});
    const Buffer c = buffer("C", {outputs, oh, ow});
    const VarRef oho = make_var("oho"), owo = make_var("owo");

    const auto tile = [&](bool reduce) {
      struct Loop {
        VarRef var;
        int64_t extent;
        LoopKind kind;
      };
      std::vector<Loop> loops;
      Expr i, r, s, h, x, o;
      for (size_t p = 0; p < order.size(); ++p) {
        const LoopKind kind = kinds[p] == 'u'   ? LoopKind::kUnrolled
                              : kinds[p] == 'v' ? LoopKind::kVectorized
                                                : LoopKind::kSerial;
        const auto loop = [&](std::string_view name, int64_t extent) -> Expr {
          loops.push_back({make_var(name), extent, kind});
          return loops.back().var;
        };
        switch (order[p]) {
          case 'i':
            if (reduce) i = loop("ic", channels);
            break;
          case 'r':
            if (reduce) r = loop("r", kernel);
            break;
          case 's':
            if (reduce) s = loop("s", kernel);
            break;
          case 'h': h = loop("ohi", tile_h); break;
          case 'w':
            if (subtile_w != 0) {
              const Expr outer = loop("owm", (tile_w + subtile_w - 1) / subtile_w);
              x = outer * subtile_w + loop("owi", subtile_w);
            } else {
              x = loop("owi", tile_w);
            }
            break;
          default: o = loop("oc", outputs); break;
        }
      }
      const Expr y = Expr(oho) * tile_h + h;
      const Expr z = Expr(owo) * tile_w + x;
      const Expr out[] = {o, y, z};
      Expr guard = logical_and(y < oh, z < ow);
      if (subtile_w != 0) guard = logical_and(guard, x < tile_w);
      Stmt body;
      if (!reduce) {
        body = make_if(guard, make_store(c, out, make_float(kFloat32, 0)));
      } else {
        const Expr row = y * stride + r * dilation - top, column = z * stride + s * dilation - left;
        const Expr inside = logical_and(logical_and(make_index(0) <= row, row < height),
                                        logical_and(make_index(0) <= column, column < width));
        const Expr at[] = {i, row, column}, tap[] = {o, i, r, s};
        const Expr read = make_load(a, at);
        const Expr term = pad == PadForm::kSelect ? make_select(inside, read, make_float(kFloat32, 0)) : read;
        const Stmt update = make_store(c, out, make_load(c, out) + term * make_load(w, tap));
        body = make_if(pad == PadForm::kSelect ? guard : logical_and(guard, inside), update);
      }
      for (size_t p = loops.size(); p-- > 0;)
        body = make_for(loops[p].var, make_index(loops[p].extent), loops[p].kind, body);
      return body;
    };
    const Stmt both[] = {tile(false), tile(true)};
    Stmt body = make_for(owo, make_index((ow + tile_w - 1) / tile_w), LoopKind::kSerial, make_seq(both));
    body =
        make_for(oho, make_index((oh + tile_h - 1) / tile_h), parallel ? LoopKind::kParallel : LoopKind::kSerial, body);
    return {"conv", make_array({a, w}), make_array({c}), body};
  }
};

}  // namespace tensmith::testing
