/* What gemm.cl and gemm.c compute, in the plainest way and in double precision. */

void gemm_reference(float *c, const float *a, const float *b, int m, int n, int k) {
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < n; j++) {
      double sum = 0.0;
      for (int p = 0; p < k; p++) sum += (double)a[i * k + p] * b[p * n + j];
      c[i * n + j] = (float)sum;
    }
  }
}
