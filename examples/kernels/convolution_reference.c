/* What convolution.cl and convolution.c compute, in the plainest way and in double precision. */

#ifndef FILTER_SIZE
#define FILTER_SIZE 5
#endif

void convolution_reference(float *output, const float *input, const float *filter, int width, int height) {
  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++) {
      double sum = 0.0;
      for (int i = 0; i < FILTER_SIZE; i++) {
        for (int j = 0; j < FILTER_SIZE; j++) {
          sum += (double)input[(y + i) * (width + FILTER_SIZE - 1) + x + j] * filter[i * FILTER_SIZE + j];
        }
      }
      output[y * width + x] = (float)sum;
    }
  }
}
