#include "machine/worker/tracer.hpp"

#include <cstdlib>
#include <mutex>
#include <utility>

namespace overlaptune::cuda {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr std::size_t kBufferAlignment = 8;  // cupti_activity.h: ACTIVITY_RECORD_ALIGNMENT

/// Receives the records. It is global, because CUPTI's callbacks have no pointer for the user, and
/// come from CUPTI's threads.
struct Inbox {
  std::mutex mutex{};
  const Cupti* reader = nullptr;  ///< the open tracer's; null: records are dropped
  std::vector<GpuRecord> records{};
  std::size_t lost = 0;

  /// Returns and removes the records and the number of losses.
  std::pair<std::vector<GpuRecord>, std::size_t> take() {
    const std::lock_guard lock(mutex);
    return {std::exchange(records, {}), std::exchange(lost, 0)};
  }
};

Inbox& inbox() {
  // It is never destroyed, because callbacks may come late.
  static Inbox* const kInbox = new Inbox;
  return *kInbox;
}

/// Without memory there is no buffer; CUPTI then counts the records that it drops.
void request_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most) noexcept {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kBufferAlignment, kBufferBytes));
  *size = *buffer == nullptr ? 0 : kBufferBytes;
  *most = 0;  // as many records as fit
}

void complete_buffer(CUctx_st* /*context*/, std::uint32_t /*stream*/, std::uint8_t* buffer,
                     std::size_t /*size*/, std::size_t valid) noexcept {
  if (buffer != nullptr && valid > 0) {
    const std::lock_guard lock(inbox().mutex);
    try {
      const Cupti* reader = inbox().reader;
      if (reader != nullptr && !reader->read(buffer, valid, inbox().records)) ++inbox().lost;
    } catch (...) {  // out of memory; must not reach CUPTI
      ++inbox().lost;
    }
  }
  std::free(buffer);
}

}  // namespace

Expected<std::unique_ptr<Tracer>> Tracer::open(const std::vector<std::string>& libraries) {
  auto cupti = Cupti::load(libraries);
  if (!cupti) return error_of(cupti);
  std::unique_ptr<Tracer> tracer(new Tracer(std::move(*cupti)));
  {
    const std::lock_guard lock(inbox().mutex);
    if (inbox().reader != nullptr) {
      return unavailable("CUPTI: a tracer of this process is open already: close it first");
    }
    inbox().reader = &tracer->cupti_;
  }
  return outcome_of([&] {
    tracer->cupti_.register_callbacks(request_buffer, complete_buffer);
    // A missing permission shows here.
    tracer->cupti_.enable();
    tracer->cupti_.disable();
    return std::move(tracer);
  });
}

Tracer::Tracer(Cupti cupti) : cupti_(std::move(cupti)) {}

Tracer::~Tracer() {
  {
    const std::lock_guard lock(inbox().mutex);
    if (inbox().reader != &cupti_) return;  // another tracer is the open one
  }
  try {
    cupti_.disable();
    cupti_.flush();
  } catch (const Failure&) {
    // Records that still come are dropped below.
  }
  const std::lock_guard lock(inbox().mutex);
  inbox().reader = nullptr;
  inbox().records.clear();
  inbox().lost = 0;
}

void Tracer::start() {
  // Removes what an earlier recording left.
  cupti_.flush();
  static_cast<void>(cupti_.take_dropped());
  static_cast<void>(inbox().take());
  dropped_ = 0;
  cupti_.enable();
}

std::vector<Activity> Tracer::stop(int rank) {
  // Disabled first, so that a flush that fails leaves nothing recording.
  cupti_.disable();
  cupti_.flush();
  auto [records, lost] = inbox().take();
  const std::size_t seen = records.size();
  std::vector<Activity> activities = activities_of(std::move(records), rank);
  dropped_ = cupti_.take_dropped() + lost + (seen - activities.size());
  return activities;
}

}  // namespace overlaptune::cuda
