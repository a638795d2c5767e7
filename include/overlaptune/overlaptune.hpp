#pragma once
// A header-only C++20 wrapper of the C interface: handles close themselves, and failures are
// thrown.
//
//     ovt::Database database({"cluster.db"});
//     const auto answer = database.query(
//         ovt::problem(OVT_GEMM_ALL_REDUCE, 4096, 8192, 3584, OVT_BF16, 8));
//     if (answer.source == OVT_EXACT) use(answer.config);

#include <cstdint>
#include <filesystem>
#include <memory>
#include <overlaptune/overlaptune.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ovt {

/// A call that failed. `what()` is ovt_last_error(): the thing at fault, what was expected, what to
/// do.
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

/// A question for the launch and the strategies, as in "signaled,sequential", or all; its other
/// fields may be set. The text must live as long as the question.
[[nodiscard]] inline ovt_question question(ovt_launch launch, const char* strategies = nullptr) {
  ovt_question made{};
  made.size = sizeof made;
  made.strategies = strategies;
  made.launch = launch;
  return made;
}

/// The stored platform with this name or fingerprint. Throws `std::length_error` for a name that is
/// longer than that of any stored one.
[[nodiscard]] inline ovt_platform stored_platform(std::string_view name) {
  ovt_platform platform{};
  platform.size = sizeof platform;
  if (name.size() >= sizeof platform.name) throw std::length_error("name of a platform: too long");
  name.copy(platform.name, name.size());
  return platform;
}

/// An open database. Any number of threads may call its methods at once, but not while it is moved
/// or destroyed. Methods throw `Error`.
class Database {
 public:
  /// Opens files as ovt_open does. Without files OVERLAPTUNE_DB names one; without a platform it is
  /// the stored real one.
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

  /// The answer to a question of its own; `ovt::question` makes one.
  [[nodiscard]] ovt_answer query(const ovt_problem& problem, const ovt_question& question) const {
    ovt_answer answer;
    answer.size = sizeof answer;
    check(ovt_query_for(handle_.get(), &problem, &question, &answer));
    return answer;
  }

  [[nodiscard]] std::string explain(const ovt_problem& problem,
                                    ovt_launch launch = OVT_GRAPH) const {
    return explain(problem, ovt::question(launch));
  }
  [[nodiscard]] std::string explain(const ovt_problem& problem,
                                    const ovt_question& question) const {
    // If another thread reloads, the text may be longer in the next call: repeat until it fits.
    std::string text(1023, '\0');
    for (;;) {
      std::size_t length = 0;
      check(ovt_explain_for(handle_.get(), &problem, &question, text.data(), text.size() + 1,
                            &length));
      const bool whole = length <= text.size();
      text.resize(length);
      if (whole) return text;
    }
  }

  /// The text of a recipe for up to `problem.m` rows (docs/query.md).
  [[nodiscard]] std::string recipe(const ovt_problem& problem,
                                   const ovt_question& question = ovt::question(OVT_GRAPH)) const {
    std::string text(16383, '\0');
    for (;;) {
      std::size_t length = 0;
      const ovt_status status = ovt_query_recipe(handle_.get(), &problem, &question, text.data(),
                                                 text.size() + 1, &length);
      const bool whole = length <= text.size();
      if (whole) check(status);
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
