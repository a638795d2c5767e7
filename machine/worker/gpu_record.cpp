#include "machine/worker/gpu_record.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <cxxabi.h>
#include <map>
#include <memory>
#include <tuple>

namespace overlaptune::cuda {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";

/// Parts of the names of GEMM kernels, in lower case: of cuBLAS, cuBLASLt, CUTLASS
/// (`sm90_xmma_gemm_…`, `ampere_…`, `nvjet_…`) and of generated kernels.
constexpr std::array<std::string_view, 8> kGemmNames{
    "gemm", "cutlass", "sm90_xmma", "sm80_xmma", "ampere_", "nvjet", "splitkreduce", "gemv"};

std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : name;
}

/// The name in lower case, without template arguments.
std::string plain_name(const std::string& function) {
  std::string plain;
  int depth = 0;
  for (const char c : function) {
    if (c == '<') ++depth;
    if (depth == 0) plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (c == '>' && depth > 0) --depth;
  }
  return plain;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

ActivityKind kind_of_kernel(const std::string& name) {
  const std::string plain = plain_name(function_name(name));
  if (contains(plain, "nccl") || contains(plain, "exchange")) return ActivityKind::collective;
  const auto named = [&](std::string_view part) { return contains(plain, part); };
  if (std::ranges::any_of(kGemmNames, named)) return ActivityKind::gemm;
  if (contains(plain, "wait") || contains(plain, "signal")) return ActivityKind::signal;
  return ActivityKind::other;
}

}  // namespace

std::string function_name(std::string_view kernel) {
  std::string name = demangled(std::string(kernel));
  int depth = 0;  // depth within template arguments and lambdas
  std::size_t begin = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '<' || c == '{') ++depth;
    if ((c == '>' || c == '}') && depth > 0) --depth;
    if (depth > 0) continue;
    if (c == ' ') begin = i + 1;  // the text before it was the return type
    if (c != '(') continue;
    if (std::string_view(name).substr(i).starts_with(kAnonymous)) {
      i += kAnonymous.size() - 1;
      continue;
    }
    name.resize(i);
    break;
  }
  return name.substr(std::min(begin, name.size()));
}

ActivityKind classify(const GpuRecord& record) {
  switch (record.type) {
    case RecordType::kernel:
      return kind_of_kernel(record.name);
    case RecordType::copy:
      // Copy engines exchange by copies into a peer's memory.
      return contains(record.name, "peer") ? ActivityKind::collective : ActivityKind::copy;
    case RecordType::set:
      return ActivityKind::signal;
  }
  return ActivityKind::other;
}

std::vector<Activity> activities_of(std::vector<GpuRecord> records, int rank) {
  std::erase_if(records, [](const GpuRecord& record) {
    return record.start_ns == 0 || record.end_ns < record.start_ns;
  });
  std::ranges::stable_sort(records, [](const GpuRecord& a, const GpuRecord& b) {
    return std::tie(a.start_ns, a.end_ns) < std::tie(b.start_ns, b.end_ns);
  });
  std::vector<Activity> activities;
  activities.reserve(records.size());
  std::map<std::uint64_t, int> streams;
  for (const GpuRecord& record : records) {
    const auto since_first = [&](std::uint64_t time_ns) {
      return us(static_cast<double>(time_ns - records.front().start_ns) / 1000.0);
    };
    const int next = static_cast<int>(streams.size());
    activities.push_back(
        {.rank = rank,
         .stream = streams.try_emplace(record.stream, next).first->second,
         .kind = classify(record),
         .name = record.type == RecordType::kernel ? function_name(record.name) : record.name,
         .start = since_first(record.start_ns),
         .end = since_first(record.end_ns)});
  }
  return activities;
}

}  // namespace overlaptune::cuda
