#include "machine/worker/cupti.hpp"

#include <array>
#include <cupti.h>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "core/base/dynamic_library.hpp"

namespace overlaptune::cuda {

struct Cupti::Calls {
  decltype(&cuptiGetVersion) get_version = nullptr;
  decltype(&cuptiGetResultString) get_result_string = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivityFlushAll) flush_all = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) get_num_dropped_records = nullptr;
  decltype(&cuptiActivityGetNextRecord) get_next_record = nullptr;
};

namespace {

/// The major version. Records grow from one major version to the next, and stay the same within
/// one. Before CUDA 13 the version was a plain count (cupti_version.h).
constexpr std::uint32_t major_version(std::uint32_t version) {
  return version / 10000;
}

constexpr std::uint32_t kMajor = major_version(CUPTI_API_VERSION);
static_assert(kMajor >= 13, "built with the CUPTI of CUDA 13 or later");

constexpr std::array<CUpti_ActivityKind, 4> kRecorded{
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2,
    CUPTI_ACTIVITY_KIND_MEMSET};

/// Advice to the user about a status; empty where nothing is known to help.
std::string_view advice(int status) {
  switch (status) {
    case CUPTI_ERROR_NOT_INITIALIZED:
    case CUPTI_ERROR_UNKNOWN:  // as CUDA 13 answers without a driver
      return ": is the NVIDIA driver installed, and as new as the CUDA toolkit?";
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return ": the driver reserves profiling for administrators: run as root, or set its option "
             "NVreg_RestrictProfilingToAdminUsers=0";
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
    case CUPTI_ERROR_DISABLED:
    case CUPTI_ERROR_HARDWARE_BUSY:
      return ": another profiler is at work: run without it (Nsight, ncu, cuda-gdb, DCGM)";
    case CUPTI_ERROR_OUT_OF_MEMORY:
      return ": trace a smaller problem";
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_NOT_SUPPORTED:
      return ": this kind of GPU cannot be traced: run without a trace";
    default:
      return "";
  }
}

template <class Record>
GpuRecord record_of(RecordType type, const char* name, const Record& record) {
  return {.type = type,
          .name = name,
          .stream = record.streamId,
          .start_ns = record.start,
          .end_ns = record.end};
}

const char* name_of_copy(int kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
      return "memcpy host to device";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
      return "memcpy device to host";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
      return "memcpy on the device";
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return "memcpy peer to peer";
    default:
      return "memcpy";
  }
}

template <class Copy>
GpuRecord record_of_copy(const Copy& copy) {
  return record_of(RecordType::copy, name_of_copy(copy.copyKind), copy);
}

/// None for a record that is not of a recorded kind.
std::optional<GpuRecord> record_of(const CUpti_Activity* activity) {
  switch (activity->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto& kernel = *reinterpret_cast<const CUpti_ActivityKernel10*>(activity);
      return record_of(RecordType::kernel, kernel.name == nullptr ? "?" : kernel.name, kernel);
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return record_of_copy(*reinterpret_cast<const CUpti_ActivityMemcpy6*>(activity));
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return record_of_copy(*reinterpret_cast<const CUpti_ActivityMemcpyPtoP4*>(activity));
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return record_of(RecordType::set, "memset",
                       *reinterpret_cast<const CUpti_ActivityMemset4*>(activity));
    default:
      return std::nullopt;
  }
}

}  // namespace

std::vector<std::string> cupti_libraries() {
  const std::string names[] = {fmt::format("libcupti.so.{}", kMajor), "libcupti.so"};
  std::vector<std::string> libraries;
  for (const char* folder : {"", "/usr/local/cuda/lib64/", "/usr/local/cuda/extras/CUPTI/lib64/"}) {
    for (const std::string& name : names) libraries.push_back(folder + name);
  }
  return libraries;
}

Expected<Cupti> Cupti::load(const std::vector<std::string>& libraries) {
  auto cupti = load_first(libraries, [](const DynamicLibrary& library) -> Expected<Cupti> {
    auto calls = std::make_unique<Calls>();
    const auto found = library.find({
        {"cuptiGetVersion", calls->get_version},
        {"cuptiGetResultString", calls->get_result_string},
        {"cuptiActivityRegisterCallbacks", calls->register_callbacks},
        {"cuptiActivityEnable", calls->enable},
        {"cuptiActivityDisable", calls->disable},
        {"cuptiActivityFlushAll", calls->flush_all},
        {"cuptiActivityGetNumDroppedRecords", calls->get_num_dropped_records},
        {"cuptiActivityGetNextRecord", calls->get_next_record},
    });
    if (!found) return error_of(found);
    std::uint32_t version = 0;
    if (calls->get_version(&version) != CUPTI_SUCCESS || major_version(version) != kMajor) {
      return unavailable(fmt::format("{} has version {}", library.name(), version));
    }
    return Cupti(std::move(calls));
  });
  if (!cupti) {
    cupti.error().message = fmt::format(
        "CUPTI: no libcupti of CUDA {} among {}: install it (Debian: cuda-cupti-{}-0) or add its "
        "folder to LD_LIBRARY_PATH",
        kMajor, cupti.error().message, kMajor);
  }
  return cupti;
}

Cupti::Cupti(std::unique_ptr<Calls> calls) : calls_(std::move(calls)) {}
Cupti::~Cupti() = default;
Cupti::Cupti(Cupti&&) noexcept = default;
Cupti& Cupti::operator=(Cupti&&) noexcept = default;

void Cupti::check(const char* call, int status) const {
  if (status == CUPTI_SUCCESS) return;
  const char* name = nullptr;
  if (calls_->get_result_string(static_cast<CUptiResult>(status), &name) != CUPTI_SUCCESS ||
      name == nullptr) {
    name = "unknown status";
  }
  throw Failure(ErrorKind::machine_unavailable,
                fmt::format("{}: {} ({}){}", call, name, status, advice(status)));
}

void Cupti::register_callbacks(RequestBuffer request, CompleteBuffer complete) const {
  check("cuptiActivityRegisterCallbacks", calls_->register_callbacks(request, complete));
}

void Cupti::enable() const {
  for (std::size_t i = 0; i < kRecorded.size(); ++i) {
    const int status = calls_->enable(kRecorded[i]);
    // A kind that cannot be disabled again does no harm: its records are never read.
    for (std::size_t j = 0; status != CUPTI_SUCCESS && j < i; ++j) calls_->disable(kRecorded[j]);
    check("cuptiActivityEnable", status);
  }
}

void Cupti::disable() const {
  int first = CUPTI_SUCCESS;
  for (const CUpti_ActivityKind kind : kRecorded) {
    const int status = calls_->disable(kind);
    if (first == CUPTI_SUCCESS) first = status;
  }
  check("cuptiActivityDisable", first);
}

void Cupti::flush() const {
  check("cuptiActivityFlushAll", calls_->flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
}

std::size_t Cupti::take_dropped() const {
  std::size_t dropped = 0;
  check("cuptiActivityGetNumDroppedRecords", calls_->get_num_dropped_records(nullptr, 0, &dropped));
  return dropped;
}

bool Cupti::read(std::uint8_t* buffer, std::size_t valid, std::vector<GpuRecord>& records) const {
  CUpti_Activity* activity = nullptr;
  for (;;) {
    const CUptiResult status = calls_->get_next_record(buffer, valid, &activity);
    if (status == CUPTI_ERROR_MAX_LIMIT_REACHED) return true;
    if (status != CUPTI_SUCCESS) return false;
    if (auto record = record_of(activity)) records.push_back(std::move(*record));
  }
}

}  // namespace overlaptune::cuda
