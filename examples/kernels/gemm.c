/* Matrix product C = A * B, row-major: A is m x k, B is k x n.

   Parameters
     tile_m, tile_n, tile_k  the product is computed in blocks of this size
     unroll_m                rows of C that share a pass over a row of B; tile_m is a multiple of it */

static int least(int a, int b) { return a < b ? a : b; }

void gemm(float *restrict c, const float *restrict a, const float *restrict b, int m, int n, int k) {
  for (int i = 0; i < m * n; i++) c[i] = 0.0f;
  for (int p0 = 0; p0 < k; p0 += tile_k) {
    const int p1 = least(p0 + tile_k, k);
    for (int i0 = 0; i0 < m; i0 += tile_m) {
      const int i1 = least(i0 + tile_m, m);
      for (int j0 = 0; j0 < n; j0 += tile_n) {
        const int j1 = least(j0 + tile_n, n);
        int i = i0;
        for (; i + unroll_m <= i1; i += unroll_m) {
          for (int p = p0; p < p1; p++) {
            for (int u = 0; u < unroll_m; u++) {
              const float left = a[(i + u) * k + p];
              for (int j = j0; j < j1; j++) c[(i + u) * n + j] += left * b[p * n + j];
            }
          }
        }
        for (; i < i1; i++) {
          for (int p = p0; p < p1; p++) {
            for (int j = j0; j < j1; j++) c[i * n + j] += a[i * k + p] * b[p * n + j];
          }
        }
      }
    }
  }
}
