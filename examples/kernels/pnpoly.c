/* Which points lie inside a polygon, as in pnpoly.cl. Compile with -ffp-contract=off, so that points that are as good as on
   an edge have the same answer in every config.

   Parameters
     tile_points  points that share a pass over the polygon
     between      how is told whether an edge spans the height of the point: compare (of two comparisons), both (ranges)
     branches     1: a crossing is looked for only where the edge spans the height; 0: always, which a compiler can vectorize */

#define compare 0
#define both 1

static inline int crosses(float px, float py, float ax, float ay, float bx, float by) {
#if between == compare
  const int spans = (ay > py) != (by > py);
#else
  const int spans = (ay <= py && py < by) || (by <= py && py < ay);
#endif
#if branches
  return spans && px < (bx - ax) * (py - ay) / (by - ay) + ax;
#else
  const int left = px < (bx - ax) * (py - ay) / (by - ay) + ax;
  return spans & left;
#endif
}

void pnpoly(int *restrict inside, const float *restrict points, const float *restrict vertices, int point_count,
            int vertex_count) {
  for (int begin = 0; begin < point_count; begin += tile_points) {
    const int count = point_count - begin < tile_points ? point_count - begin : tile_points;
    int odd[tile_points];
    for (int t = 0; t < count; t++) odd[t] = 0;
    for (int v = 0, before = vertex_count - 1; v < vertex_count; before = v++) {
      const float ax = vertices[2 * v], ay = vertices[2 * v + 1];
      const float bx = vertices[2 * before], by = vertices[2 * before + 1];
      for (int t = 0; t < count; t++) {
        odd[t] ^= crosses(points[2 * (begin + t)], points[2 * (begin + t) + 1], ax, ay, bx, by);
      }
    }
    for (int t = 0; t < count; t++) inside[begin + t] = odd[t];
  }
}
