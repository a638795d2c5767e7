#pragma once
// The C interface as C++20: handles that close themselves, failures that are thrown. Header only.
//
//     ovt::Database database({"cluster.db"});
//     const auto answer = database.query(
//         ovt::problem(OVT_GEMM_ALL_REDUCE, 4096, 8192, 3584, OVT_BF16, 8));
//     if (answer.source == OVT_EXACT) use(answer.strategy, ovt::wave_groups(answer));

#include <filesystem>
#include <memory>
#include <overlaptune/overlaptune.h>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ovt {

/// `what()` is ovt_last_error(): the thing, what was expected, what to do.
class Error : public std::runtime_error {
 public:
  explicit Error(ovt_status status) : std::runtime_error(ovt_last_error()), status_(status) {}
  [[nodiscard]] ovt_status status() const noexcept { return status_; }

 private:
  ovt_status status_;
};

inline void check(ovt_status status) {
  if (status != OVT_OK) throw Error(status);
}

[[nodiscard]] inline ovt_problem problem(ovt_op op, std::int64_t m, std::int64_t n, std::int64_t k,
                                         ovt_dtype dtype, int ranks) {
  return {.size = sizeof(ovt_problem),
          .m = m,
          .n = n,
          .k = k,
          .op = op,
          .dtype = dtype,
          .ranks = ranks,
          .reserved = 0};
}

/// The stored platform of that name or fingerprint. Throws `std::length_error` for a longer name
/// than any stored one can have.
[[nodiscard]] inline ovt_platform stored_platform(std::string_view name) {
  ovt_platform platform{};
  platform.size = sizeof platform;
  if (name.size() >= sizeof platform.name) throw std::length_error("name of a platform: too long");
  name.copy(platform.name, name.size());
  return platform;
}

[[nodiscard]] inline std::span<const std::int64_t> wave_groups(const ovt_answer& answer) {
  return {answer.wave_groups, static_cast<std::size_t>(answer.wave_group_count)};
}

/// An open database. All methods but moving and destroying may be called by any number of threads
/// at once, and throw `Error`.
class Database {
 public:
  /// As ovt_open: no files means OVERLAPTUNE_DB, no platform the real one that is stored.
  explicit Database(const std::vector<std::filesystem::path>& files = {},
                    const ovt_platform* platform = nullptr) {
    std::vector<const char*> paths;
    paths.reserve(files.size());
    for (const auto& file : files) paths.push_back(file.c_str());
    ovt_database* opened = nullptr;
    check(ovt_open(paths.data(), paths.size(), platform, &opened));
    handle_.reset(opened);
  }

  [[nodiscard]] ovt_answer query(const ovt_problem& problem, ovt_launch launch = OVT_GRAPH) const {
    ovt_answer answer;
    answer.size = sizeof answer;
    check(ovt_query(handle_.get(), &problem, launch, &answer));
    return answer;
  }

  [[nodiscard]] std::string explain(const ovt_problem& problem,
                                    ovt_launch launch = OVT_GRAPH) const {
    // The text may change between two calls, if another thread reloads: until it fits.
    std::string text(1023, '\0');
    for (;;) {
      std::size_t length = 0;
      check(ovt_explain(handle_.get(), &problem, launch, text.data(), text.size() + 1, &length));
      const bool whole = length <= text.size();
      text.resize(length);
      if (whole) return text;
    }
  }

  void reload() { check(ovt_reload(handle_.get())); }

  [[nodiscard]] ovt_database* handle() const noexcept { return handle_.get(); }

 private:
  struct Close {
    void operator()(ovt_database* database) const noexcept { ovt_close(database); }
  };
  std::unique_ptr<ovt_database, Close> handle_;
};

}  // namespace ovt
