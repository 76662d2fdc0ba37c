/* Convolution of an image with a small filter, as in convolution.cl.

   Parameters
     tile_x, tile_y  the output is computed in tiles of this size
     order           taps_inside: a loop over the filter for each output;
                     taps_outside: a loop over a row of outputs for each tap, which a compiler can vectorize */

#ifndef FILTER_SIZE
#define FILTER_SIZE 5
#endif

#define taps_inside 0
#define taps_outside 1

static int least(int a, int b) { return a < b ? a : b; }

void convolution(float *restrict output, const float *restrict input, const float *restrict filter, int width,
                 int height) {
  const int input_width = width + FILTER_SIZE - 1;
  for (int top = 0; top < height; top += tile_y) {
    const int bottom = least(top + tile_y, height);
    for (int left = 0; left < width; left += tile_x) {
      const int right = least(left + tile_x, width);
      for (int y = top; y < bottom; y++) {
#if order == taps_inside
        for (int x = left; x < right; x++) {
          float sum = 0.0f;
          for (int i = 0; i < FILTER_SIZE; i++) {
            for (int j = 0; j < FILTER_SIZE; j++) {
              sum += input[(y + i) * input_width + x + j] * filter[i * FILTER_SIZE + j];
            }
          }
          output[y * width + x] = sum;
        }
#else
        float row[tile_x];
        for (int x = left; x < right; x++) row[x - left] = 0.0f;
        for (int i = 0; i < FILTER_SIZE; i++) {
          for (int j = 0; j < FILTER_SIZE; j++) {
            const float tap = filter[i * FILTER_SIZE + j];
            for (int x = left; x < right; x++) row[x - left] += input[(y + i) * input_width + x + j] * tap;
          }
        }
        for (int x = left; x < right; x++) output[y * width + x] = row[x - left];
#endif
      }
    }
  }
}
