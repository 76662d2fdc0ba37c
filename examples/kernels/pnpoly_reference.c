/* What pnpoly.cl and pnpoly.c compute, in the plainest way. */

void pnpoly_reference(int *inside, const float *points, const float *vertices, int point_count, int vertex_count) {
  for (int i = 0; i < point_count; i++) {
    const float px = points[2 * i], py = points[2 * i + 1];
    inside[i] = 0;
    for (int v = 0; v < vertex_count; v++) {
      const int before = v == 0 ? vertex_count - 1 : v - 1;
      const float ax = vertices[2 * v], ay = vertices[2 * v + 1];
      const float bx = vertices[2 * before], by = vertices[2 * before + 1];
      if ((ay > py) == (by > py)) continue;
      const float slope = (bx - ax) * (py - ay) / (by - ay);
      if (px < slope + ax) inside[i] = !inside[i];
    }
  }
}
