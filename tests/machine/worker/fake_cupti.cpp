// A libcupti without a GPU: it keeps the records that the test makes up until they are flushed, and
// delivers them from a thread of its own as the real one does.

#include "tests/machine/worker/fake_cupti.hpp"

#include <cstring>
#include <cupti.h>
#include <set>
#include <string_view>
#include <thread>
#include <vector>

namespace {

namespace fake = overlaptune::fake_cupti;

std::set<CUpti_ActivityKind> enabled;
std::vector<std::vector<std::uint8_t>> records;
CUpti_BuffersCallbackRequestFunc request = nullptr;
CUpti_BuffersCallbackCompleteFunc complete = nullptr;

template <class Record>
void note(const Record& record) {
  if (!enabled.contains(record.kind)) return;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&record);
  records.emplace_back(bytes, bytes + sizeof record);
}

template <class Record>
Record made(CUpti_ActivityKind kind, std::uint32_t stream, std::uint64_t start, std::uint64_t end) {
  Record record;
  std::memset(&record, 0, sizeof record);
  record.kind = kind;
  record.streamId = stream;
  record.start = start;
  record.end = end;
  return record;
}

void kernel(const char* name, std::uint32_t stream, std::uint64_t start, std::uint64_t end) {
  auto record =
      made<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, stream, start, end);
  record.name = name;
  note(record);
}

void copy(std::uint32_t stream, std::uint64_t start, std::uint64_t end) {
  auto record = made<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY, stream, start, end);
  record.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
  note(record);
}

void peer_copy(std::uint32_t stream, std::uint64_t start, std::uint64_t end) {
  auto record = made<CUpti_ActivityMemcpyPtoP4>(CUPTI_ACTIVITY_KIND_MEMCPY2, stream, start, end);
  record.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
  note(record);
}

void set(std::uint32_t stream, std::uint64_t start, std::uint64_t end) {
  note(made<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET, stream, start, end));
}

std::size_t size_of(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return sizeof(CUpti_ActivityKernel10);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return sizeof(CUpti_ActivityMemcpyPtoP4);
    default:
      return sizeof(CUpti_ActivityMemset4);
  }
}

}  // namespace

extern "C" {

__attribute__((visibility("default")))
fake::Control fake_cupti_control{.version = CUPTI_API_VERSION,
                                 .kernel = kernel,
                                 .copy = copy,
                                 .peer_copy = peer_copy,
                                 .set = set};

static CUptiResult status_of(std::string_view call) {
  fake::Control& control = fake_cupti_control;
  if (control.failing_call == nullptr || call != control.failing_call) return CUPTI_SUCCESS;
  if (control.good_calls-- > 0) return CUPTI_SUCCESS;
  return static_cast<CUptiResult>(control.status);
}

CUptiResult cuptiGetVersion(std::uint32_t* version) {
  *version = fake_cupti_control.version;
  return status_of("cuptiGetVersion");
}

CUptiResult cuptiGetResultString(CUptiResult result, const char** str) {
  *str = "FAKE_STATUS";
  return result == CUPTI_ERROR_UNKNOWN ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc funcBufferRequested,
                                           CUpti_BuffersCallbackCompleteFunc funcBufferCompleted) {
  request = funcBufferRequested;
  complete = funcBufferCompleted;
  return status_of("cuptiActivityRegisterCallbacks");
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  const CUptiResult status = status_of("cuptiActivityEnable");
  if (status == CUPTI_SUCCESS) enabled.insert(kind);
  return status;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  enabled.erase(kind);
  return status_of("cuptiActivityDisable");
}

CUptiResult cuptiActivityFlushAll(std::uint32_t /*flag*/) {
  if (const CUptiResult status = status_of("cuptiActivityFlushAll")) return status;
  std::thread([] {
    std::uint8_t* buffer = nullptr;
    std::size_t size = 0;
    std::size_t most = 0;
    std::size_t used = 0;
    for (const auto& record : records) {
      if (buffer != nullptr && used + record.size() > size) {
        complete(nullptr, 0, buffer, size, used);
        buffer = nullptr;
      }
      if (buffer == nullptr) {
        request(&buffer, &size, &most);
        used = 0;
        ++fake_cupti_control.buffers;
        if (reinterpret_cast<std::uintptr_t>(buffer) % 8 != 0) ++fake_cupti_control.misaligned;
      }
      std::memcpy(buffer + used, record.data(), record.size());
      used += record.size();
    }
    if (buffer != nullptr) complete(nullptr, 0, buffer, size, used);
    records.clear();
  }).join();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext /*context*/, std::uint32_t /*stream*/,
                                              std::size_t* dropped) {
  *dropped = fake_cupti_control.dropped;
  fake_cupti_control.dropped = 0;
  return status_of("cuptiActivityGetNumDroppedRecords");
}

CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid,
                                       CUpti_Activity** record) {
  auto* at = reinterpret_cast<std::uint8_t*>(*record);
  if (at == nullptr) {
    at = buffer;
  } else if (fake_cupti_control.damage) {
    return CUPTI_ERROR_INVALID_KIND;
  } else {
    at += size_of((*record)->kind);
  }
  if (at >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(at);
  return CUPTI_SUCCESS;
}

}  // extern "C"
