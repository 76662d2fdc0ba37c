#include "explore/worker_pool.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace tensmith {

WorkerPool::WorkerPool(int jobs) {
  for (int worker = 1; worker < jobs; ++worker) threads_.emplace_back([this, worker] { serve(worker); });
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::run(size_t count, size_t grain, const std::function<void(int, size_t, size_t)>& work) {
  grain = std::max<size_t>(grain, 1);
  if (threads_.empty() || count <= grain) {
    if (count > 0) work(0, 0, count);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    count_ = count;
    grain_ = grain;
    next_ = 0;
    work_ = &work;
    error_ = nullptr;
    busy_ = static_cast<int>(threads_.size());
    ++generation_;
  }
  wake_.notify_all();
  take_pieces(0);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return busy_ == 0; });
  work_ = nullptr;
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void WorkerPool::serve(int worker) {
  uint64_t served = 0;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stop_ || generation_ != served; });
      if (stop_) return;
      served = generation_;
    }
    take_pieces(worker);
    const std::lock_guard lock(mutex_);
    if (--busy_ == 0) done_.notify_one();
  }
}

void WorkerPool::take_pieces(int worker) {
  while (true) {
    size_t begin = 0;
    size_t end = 0;
    {
      const std::lock_guard lock(mutex_);
      if (next_ >= count_) return;
      begin = next_;
      end = std::min(begin + grain_, count_);
      next_ = end;
    }
    try {
      (*work_)(worker, begin, end);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      next_ = count_;
    }
  }
}

}  // namespace tensmith
