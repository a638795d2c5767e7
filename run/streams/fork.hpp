#pragma once
// Streams beside the caller's, for the length of one run.

#include <array>
#include <cstddef>
#include <initializer_list>

#include "run/handles.hpp"

namespace overlaptune::run {

/// Work that side streams get while it lives begins after the work that the caller's stream holds,
/// and ends before work that the caller's stream gets after `join`. If an error ends the run
/// before, the destructor joins the streams: otherwise the caller's next work would meet what the
/// sides hold, and a capture could not end.
class Fork {
 public:
  struct Side {
    cudaStream_t stream = nullptr;
    cudaEvent_t end = nullptr;  ///< for the join
  };
  static constexpr std::size_t kMostSides = 2;

  /// `forked`: an event for the fork. Throws `Failure`.
  Fork(cudaStream_t stream, cudaEvent_t forked, std::initializer_list<Side> sides);
  ~Fork();
  Fork(const Fork&) = delete;
  Fork& operator=(const Fork&) = delete;

  /// Joins the sides with the caller's stream. Throws `Failure`.
  void join();

  /// The sides are joined already, in the caller's own way.
  void dismiss() { count_ = 0; }

 private:
  void join_quietly() noexcept;

  cudaStream_t stream_;
  std::array<Side, kMostSides> sides_{};
  std::size_t count_ = 0;  ///< sides that are not joined
};

/// A stream for work beside the caller's, with its events.
class SideStream {
 public:
  [[nodiscard]] cudaStream_t get() const { return stream_.get(); }
  [[nodiscard]] Fork fork(cudaStream_t from) const {
    return Fork(from, forked_.get(), {{stream_.get(), end_.get()}});
  }

 private:
  Stream stream_ = make_stream(Priority::high);
  Event forked_ = make_event(false);
  Event end_ = make_event(false);
};

}  // namespace overlaptune::run
