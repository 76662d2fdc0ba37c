// Matrix product C = A * B, row-major: A is m x k, B is k x n. A work-group computes a tile of C; its parts of A and B
// go through local memory, a slice of tile_k at a time.
//
// Parameters
//   block_size_x, block_size_y  work-items of a work-group
//   work_x, work_y              elements of C of a work-item, a block apart
//   tile_k                      columns of A and rows of B of a slice
//   unroll_k                    1: the loop over a slice is unrolled

#define TILE_N (block_size_x * work_x)
#define TILE_M (block_size_y * work_y)

__kernel void gemm(__global float *c, __global const float *a, __global const float *b, const int m, const int n,
                   const int k) {
  __local float slice_a[TILE_M][tile_k];
  __local float slice_b[tile_k][TILE_N];
  const int column = get_local_id(0);
  const int row = get_local_id(1);
  const int item = row * block_size_x + column;
  const int top = get_group_id(1) * TILE_M;
  const int left = get_group_id(0) * TILE_N;

  float sum[work_y][work_x];
  for (int y = 0; y < work_y; y++) {
    for (int x = 0; x < work_x; x++) sum[y][x] = 0.0f;
  }

  for (int begin = 0; begin < k; begin += tile_k) {
    for (int i = item; i < TILE_M * tile_k; i += block_size_x * block_size_y) {
      const int y = i / tile_k, x = i % tile_k;
      slice_a[y][x] = top + y < m && begin + x < k ? a[(top + y) * k + begin + x] : 0.0f;
    }
    for (int i = item; i < tile_k * TILE_N; i += block_size_x * block_size_y) {
      const int y = i / TILE_N, x = i % TILE_N;
      slice_b[y][x] = begin + y < k && left + x < n ? b[(begin + y) * n + left + x] : 0.0f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#if unroll_k
#pragma unroll
#endif
    for (int p = 0; p < tile_k; p++) {
      for (int y = 0; y < work_y; y++) {
        for (int x = 0; x < work_x; x++) {
          sum[y][x] += slice_a[row + y * block_size_y][p] * slice_b[p][column + x * block_size_x];
        }
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }

  for (int y = 0; y < work_y; y++) {
    for (int x = 0; x < work_x; x++) {
      const int cy = top + row + y * block_size_y, cx = left + column + x * block_size_x;
      if (cy < m && cx < n) c[cy * n + cx] = sum[y][x];
    }
  }
}
