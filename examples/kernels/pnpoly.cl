// Which points lie inside a polygon: a ray from the point to the right crosses its edges an odd number of times.
// Points and vertices are pairs of coordinates; inside[i] becomes 1 or 0.
//
// Parameters
//   block_size_x  work-items of a work-group
//   tile_size_x   points of a work-item, a block apart
//   between       how is told whether an edge spans the height of the point: compare (of two comparisons), both (ranges)
//   points_first  1: a loop over the points for each edge, otherwise over the edges for each point

// The same answer for every config, also for points that are as good as on an edge.
#pragma OPENCL FP_CONTRACT OFF

#define compare 0
#define both 1

static int crosses(float px, float py, float ax, float ay, float bx, float by) {
#if between == compare
  const int spans = (ay > py) != (by > py);
#else
  const int spans = (ay <= py && py < by) || (by <= py && py < ay);
#endif
  return spans && px < (bx - ax) * (py - ay) / (by - ay) + ax;
}

__kernel void pnpoly(__global int *inside, __global const float *points, __global const float *vertices,
                     const int point_count, const int vertex_count) {
  const int first = get_group_id(0) * block_size_x * tile_size_x + get_local_id(0);
#if points_first
  int odd[tile_size_x];
  float px[tile_size_x], py[tile_size_x];
  for (int t = 0; t < tile_size_x; t++) {
    const int i = min(first + t * block_size_x, point_count - 1);
    px[t] = points[2 * i];
    py[t] = points[2 * i + 1];
    odd[t] = 0;
  }
  for (int v = 0, before = vertex_count - 1; v < vertex_count; before = v++) {
    for (int t = 0; t < tile_size_x; t++) {
      odd[t] ^= crosses(px[t], py[t], vertices[2 * v], vertices[2 * v + 1], vertices[2 * before], vertices[2 * before + 1]);
    }
  }
  for (int t = 0; t < tile_size_x; t++) {
    if (first + t * block_size_x < point_count) inside[first + t * block_size_x] = odd[t];
  }
#else
  for (int t = 0; t < tile_size_x; t++) {
    const int i = first + t * block_size_x;
    if (i >= point_count) return;
    int odd = 0;
    for (int v = 0, before = vertex_count - 1; v < vertex_count; before = v++) {
      odd ^= crosses(points[2 * i], points[2 * i + 1], vertices[2 * v], vertices[2 * v + 1], vertices[2 * before],
                     vertices[2 * before + 1]);
    }
    inside[i] = odd;
  }
#endif
}
