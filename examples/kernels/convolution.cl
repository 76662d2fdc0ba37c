// Convolution of an image with a small filter:
//   output[y][x] = sum over i, j of input[y + i][x + j] * filter[i][j]
// The input has FILTER_SIZE - 1 more columns and rows than the output.
//
// Parameters
//   block_size_x, block_size_y  work-items of a work-group
//   tile_size_x, tile_size_y    outputs of a work-item in each direction, a block apart
//   use_local                   1: the work-group brings its part of the input into local memory first
//   unroll_filter               1: the loop over a filter's row is unrolled

#ifndef FILTER_SIZE
#define FILTER_SIZE 5
#endif

#define PART_X (block_size_x * tile_size_x)
#define PART_Y (block_size_y * tile_size_y)
#define PATCH_X (PART_X + FILTER_SIZE - 1)
#define PATCH_Y (PART_Y + FILTER_SIZE - 1)

__kernel void convolution(__global float *output, __global const float *input, __global const float *filter,
                          const int width, const int height) {
  const int input_width = width + FILTER_SIZE - 1;
  const int input_height = height + FILTER_SIZE - 1;
  const int left = get_group_id(0) * PART_X;
  const int top = get_group_id(1) * PART_Y;
  const int column = get_local_id(0);
  const int row = get_local_id(1);

#if use_local
  __local float patch[PATCH_Y][PATCH_X];
  for (int y = row; y < PATCH_Y; y += block_size_y) {
    for (int x = column; x < PATCH_X; x += block_size_x) {
      const bool inside = top + y < input_height && left + x < input_width;
      patch[y][x] = inside ? input[(top + y) * input_width + left + x] : 0.0f;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#endif

  for (int ty = 0; ty < tile_size_y; ty++) {
    const int y = row + ty * block_size_y;
    for (int tx = 0; tx < tile_size_x; tx++) {
      const int x = column + tx * block_size_x;
      if (top + y >= height || left + x >= width) continue;
      float sum = 0.0f;
      for (int i = 0; i < FILTER_SIZE; i++) {
#if unroll_filter
#pragma unroll
#endif
        for (int j = 0; j < FILTER_SIZE; j++) {
#if use_local
          const float value = patch[y + i][x + j];
#else
          const float value = input[(top + y + i) * input_width + left + x + j];
#endif
          sum += value * filter[i * FILTER_SIZE + j];
        }
      }
      output[(top + y) * width + left + x] = sum;
    }
  }
}
