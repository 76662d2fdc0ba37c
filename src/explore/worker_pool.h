#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tensmith {

/// Threads that share the items of a loop. They sleep between loops, so they disturb no measurement. The calling thread
/// takes part: with one job there are no other threads.
class WorkerPool {
 public:
  explicit WorkerPool(int jobs);
  ~WorkerPool();

  int jobs() const { return static_cast<int>(threads_.size()) + 1; }

  /// Calls work(worker, begin, end) for pieces of [0, count) of up to `grain` items, on all threads, and waits.
  /// `worker` is in [0, jobs()) and no two calls with the same one overlap. The first exception is thrown again here.
  void run(size_t count, size_t grain, const std::function<void(int worker, size_t begin, size_t end)>& work);

 private:
  void serve(int worker);
  void take_pieces(int worker);

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  uint64_t generation_ = 0;
  int busy_ = 0;
  bool stop_ = false;
  size_t count_ = 0;
  size_t grain_ = 1;
  size_t next_ = 0;
  const std::function<void(int, size_t, size_t)>* work_ = nullptr;
  std::exception_ptr error_;
  std::vector<std::thread> threads_;
};

}  // namespace tensmith
