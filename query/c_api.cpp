// The C interface: checks its arguments, and turns every failure into a status and a message.

#include <mutex>

#include <fmt/format.h>

#include "core/base/environment.hpp"
#include "query/c_values.hpp"
#include "query/snapshot.hpp"

using namespace overlaptune;
using c::present;
using c::Refusal;

struct ovt_database {
  ovt_database(std::vector<std::filesystem::path> paths, PlatformWish platform,
               std::optional<SystemDatabase> shipped)
      : files(std::move(paths)),
        wish(std::move(platform)),
        system(std::move(shipped)),
        snapshot(read()) {}

  [[nodiscard]] std::shared_ptr<const AnswerSnapshot> read() const {
    return std::make_shared<const AnswerSnapshot>(files, wish, system);
  }

  /// The present answers, which stay alive for as long as the caller holds them.
  [[nodiscard]] std::shared_ptr<const AnswerSnapshot> now() const {
    const std::lock_guard lock(mutex);
    return snapshot;
  }
  void put(std::shared_ptr<const AnswerSnapshot> fresh) {
    const std::lock_guard lock(mutex);
    snapshot.swap(fresh);
  }

  const std::vector<std::filesystem::path> files;
  const PlatformWish wish;
  const std::optional<SystemDatabase> system;
  std::shared_ptr<const AnswerSnapshot> snapshot;
  mutable std::mutex mutex;  ///< of `snapshot`
  std::mutex reloading;      ///< held from the reading of the files on, so that the newer one stays
};

namespace {

ovt_status status_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::bad_database:
      return OVT_ERROR_DATABASE;
    case ErrorKind::cannot_write:  // a locked database, or a failing disk
      return OVT_ERROR_UNAVAILABLE;
    default:
      return OVT_ERROR_NOT_FOUND;
  }
}

template <class Call>
ovt_status guarded(const Call& call) noexcept {
  return c::guarded(status_of, call);
}

/// The absolute path of a file, so that a reload finds it when the working directory has changed.
std::filesystem::path file_of(const char* path) {
  std::error_code error;
  auto file = std::filesystem::absolute(path, error);
  if (error) {
    throw Refusal{OVT_ERROR_NOT_FOUND,
                  fmt::format("database '{}': no such file ({})", path, error.message())};
  }
  return file;
}

/// The files to open. With a system database there may be none, where the caller says which
/// platform is meant.
std::vector<std::filesystem::path> files_of(const char* const* paths, std::size_t count,
                                            bool may_be_none) {
  if (count == 0) {
    const auto named = environment().database;
    if (!named) {
      if (may_be_none) return {};
      throw Refusal{OVT_ERROR_NOT_FOUND,
                    "no database is named; pass a path, or set OVERLAPTUNE_DB to one"};
    }
    return {file_of(named->c_str())};
  }
  (void)present(paths, "paths");
  std::vector<std::filesystem::path> files;
  for (std::size_t i = 0; i < count; ++i) {
    files.push_back(file_of(present(paths[i], fmt::format("paths[{}]", i).c_str())));
  }
  return files;
}

/// Throws `Refusal` where the GPUs of the snapshot do not have as many SMs as are to be left free.
void check_terms(const Terms& terms, const AnswerSnapshot& snapshot) {
  const auto fitting = fits(terms, snapshot.platform().platform);
  if (!fitting) throw Refusal{OVT_ERROR_ARGUMENT, "ovt_question." + fitting.error().message};
}

template <class ReadTerms>
void write_answer(const ovt_database* database, const ovt_problem* problem,
                  const ReadTerms& read_terms, ovt_answer* answer) {
  const std::size_t size = c::checked(answer);
  const Problem asked = c::problem_of(problem);
  const Terms terms = read_terms();
  const auto snapshot = present(database, "database")->now();
  check_terms(terms, *snapshot);
  c::write(value_or_throw(snapshot->answer(asked, terms)), size, answer);
}

template <class ReadTerms>
void write_explanation(const ovt_database* database, const ovt_problem* problem,
                       const ReadTerms& read_terms, char* text, size_t capacity, size_t* length) {
  if (capacity > 0) (void)present(text, "text");
  if (length != nullptr) (void)present(length, "length");
  const auto snapshot = present(database, "database")->now();
  const Problem asked = c::problem_of(problem);
  const Terms terms = read_terms();
  check_terms(terms, *snapshot);
  const std::string all = explanation(*snapshot, asked, terms);
  if (length != nullptr) *length = all.size();
  if (capacity == 0) return;
  text[all.copy(text, capacity - 1)] = '\0';
}

}  // namespace

const char* ovt_version() {
  return c::version();
}

const char* ovt_last_error() {
  return c::last_error();
}

ovt_status ovt_open(const char* const* paths, size_t count, const ovt_platform* platform,
                    ovt_database** database) {
  return guarded([&] {
    (void)present(database, "database");
    auto wish = c::wish_of(platform);
    auto system = system_database();
    auto files = files_of(paths, count, system.has_value() && platform != nullptr);
    *database = new ovt_database(std::move(files), std::move(wish), std::move(system));
  });
}

ovt_status ovt_query(const ovt_database* database, const ovt_problem* problem, ovt_launch launch,
                     ovt_answer* answer) {
  return guarded([&] {
    const auto terms = [&] { return Terms{.launch = c::launch_of(launch)}; };
    write_answer(database, problem, terms, answer);
  });
}

ovt_status ovt_query_for(const ovt_database* database, const ovt_problem* problem,
                         const ovt_question* question, ovt_answer* answer) {
  return guarded([&] {
    const auto terms = [&] { return c::terms_of(question); };
    write_answer(database, problem, terms, answer);
  });
}

ovt_status ovt_query_recipe(const ovt_database* database, const ovt_problem* problem,
                            const ovt_question* question, char* text, size_t capacity,
                            size_t* length) {
  return guarded([&] {
    if (capacity > 0) (void)present(text, "text");
    if (length != nullptr) (void)present(length, "length");
    const auto snapshot = present(database, "database")->now();
    const Problem most = c::problem_of(problem);
    const Terms terms = question == nullptr ? Terms{} : c::terms_of(question);
    check_terms(terms, *snapshot);
    const auto made = value_or_throw(snapshot->recipe(weight_of(most), most.m, terms));
    const std::string all = to_string(made.recipe);
    if (length != nullptr) *length = all.size();
    if (capacity == 0) return;
    if (all.size() >= capacity) {
      throw Refusal{OVT_ERROR_ARGUMENT,
                    fmt::format("capacity = {}: expected {}", capacity, all.size() + 1)};
    }
    text[all.copy(text, capacity - 1)] = '\0';
  });
}

ovt_status ovt_explain(const ovt_database* database, const ovt_problem* problem, ovt_launch launch,
                       char* text, size_t capacity, size_t* length) {
  return guarded([&] {
    const auto terms = [&] { return Terms{.launch = c::launch_of(launch)}; };
    write_explanation(database, problem, terms, text, capacity, length);
  });
}

ovt_status ovt_explain_for(const ovt_database* database, const ovt_problem* problem,
                           const ovt_question* question, char* text, size_t capacity,
                           size_t* length) {
  return guarded([&] {
    const auto terms = [&] { return c::terms_of(question); };
    write_explanation(database, problem, terms, text, capacity, length);
  });
}

ovt_status ovt_reload(ovt_database* database) {
  return guarded([&] {
    (void)present(database, "database");
    const std::lock_guard lock(database->reloading);
    database->put(database->read());
  });
}

void ovt_close(ovt_database* database) {
  delete database;
}
