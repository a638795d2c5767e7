// libFuzzer: a database file of any bytes, through the C interface. It ends in a status and a text,
// or in answers that are sound (answer_rules.hpp).

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>
#include <vector>

#include "answer_rules.hpp"
#include "no_pause.hpp"
#include "require.hpp"
#include "scratch_file.hpp"

namespace overlaptune::fuzz {
namespace {

struct Question {
  ovt_problem problem{};
  ovt_launch launch = OVT_GRAPH;
};

ovt_problem problem_of(ovt_op op, std::int64_t m, std::int64_t n, std::int64_t k, ovt_dtype dtype,
                       int ranks) {
  return {.size = sizeof(ovt_problem),
          .m = m,
          .n = n,
          .k = k,
          .op = op,
          .dtype = dtype,
          .ranks = ranks,
          .reserved = 0};
}

/// A file as SQLite alone reads it.
class Plain {
 public:
  explicit Plain(const std::string& path) {
    sqlite3_open_v2(path.c_str(), &database_, SQLITE_OPEN_READONLY, nullptr);
  }
  ~Plain() { sqlite3_close(database_); }
  Plain(const Plain&) = delete;
  Plain& operator=(const Plain&) = delete;
  [[nodiscard]] sqlite3* database() { return database_; }

  /// Calls `row` for the first few rows, until SQLite fails.
  template <class F>
  void each(const char* sql, F&& row) {
    constexpr int kMostRows = 4;
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database_, sql, -1, &statement, nullptr) == SQLITE_OK) {
      for (int i = 0; i < kMostRows && sqlite3_step(statement) == SQLITE_ROW; ++i) row(statement);
    }
    sqlite3_finalize(statement);
  }

 private:
  sqlite3* database_ = nullptr;
};

/// The problems of some winners, for exact answers, and two that need a model.
std::vector<Question> questions(Plain& plain) {
  std::vector<Question> list;
  const auto add = [&](sqlite3_stmt* row) {
    Question asked;
    asked.problem = problem_of(sqlite3_column_int(row, 0), sqlite3_column_int64(row, 1),
                               sqlite3_column_int64(row, 2), sqlite3_column_int64(row, 3),
                               sqlite3_column_int(row, 4), sqlite3_column_int(row, 5));
    asked.launch = sqlite3_column_int(row, 6);
    list.push_back(asked);
  };
  constexpr const char* kSelect =
      "SELECT CASE op WHEN 'gemm_all_reduce' THEN 0 WHEN 'gemm_reduce_scatter' THEN 1 WHEN "
      "'all_gather_gemm' THEN 2 WHEN 'gemm_all_to_all' THEN 3 ELSE 4 END, m, n, k, dtype = 'fp16', "
      "ranks, launch = 'eager' FROM ";
  plain.each((std::string(kSelect) + "winners ORDER BY m DESC").c_str(), add);
  if (list.empty()) plain.each((std::string(kSelect) + "problems, candidates").c_str(), add);
  list.push_back({problem_of(OVT_GEMM_ALL_REDUCE, 1000, 1024, 512, OVT_BF16, 4)});
  list.push_back({problem_of(OVT_ALL_GATHER_GEMM, 512, 2048, 512, OVT_BF16, 4), OVT_EAGER});
  return list;
}

void require_refusal(ovt_status status) {
  const char* said = ovt_last_error();
  require(status == OVT_ERROR_NOT_FOUND || status == OVT_ERROR_DATABASE,
          "a file that is the file's fault, not " + std::to_string(status) + ": " + said);
  require(std::strlen(said) > 10 && std::strchr(said, '\n') == nullptr, "one line of text");
}

/// A problem; absent where it breaks a rule of problems, as a damaged row may.
std::optional<ovt_answer> ask(const ovt_database* database, const Question& asked) {
  ovt_answer answer;
  std::memset(&answer, 0x5a, sizeof answer);
  answer.size = sizeof answer;
  const ovt_status status = ovt_query(database, &asked.problem, asked.launch, &answer);
  if (status == OVT_ERROR_ARGUMENT) return std::nullopt;
  require(status == OVT_OK, std::string("an answer, not ") + ovt_last_error());
  require_sound(asked.problem, answer);
  return answer;
}

/// Calls `explain` with a buffer that is too small for most texts.
template <class F>
void require_explanation(F&& explain) {
  std::array<char, 300> some{};
  std::size_t length = 0;
  require(explain(some.data(), some.size(), &length) == OVT_OK, "an explanation");
  require(std::strlen(some.data()) <= std::min(length, some.size() - 1), "its length");
}

/// Asks for `strategies` only, with `free_sms` left alone: the answer is sound and one of them.
/// There may be none where `sequential` is left out.
void ask_for(const ovt_database* database, const Question& asked,
             const std::set<std::string>& strategies, std::int32_t free_sms) {
  std::string names;
  for (const std::string& each : strategies) names += (names.empty() ? "" : ",") + each;
  const ovt_question question{.size = sizeof(ovt_question),
                              .strategies = names.c_str(),
                              .launch = asked.launch,
                              .exclusive = free_sms > 0 ? 1 : 0,
                              .free_sms = free_sms,
                              .reserved = 0};
  ovt_answer answer;
  std::memset(&answer, 0x5a, sizeof answer);
  answer.size = sizeof answer;
  const ovt_status status = ovt_query_for(database, &asked.problem, &question, &answer);
  const auto allows = [&](const char* each) { return strategies.count(each) > 0; };
  if (status != OVT_OK) {
    const bool too_few_sms = status == OVT_ERROR_ARGUMENT && free_sms > 0;
    const bool nothing_known = status == OVT_ERROR_NOT_FOUND && !allows("sequential");
    require(too_few_sms || nothing_known,
            std::string("an answer of the allowed strategies, not ") + ovt_last_error());
    return;
  }
  require_sound(asked.problem, answer);
  require(allows(answer.strategy), "an answer of the allowed strategies");
  require(free_sms == 0 || answer.source != OVT_EXACT, "nothing measured with SMs left free");
  require_explanation([&](char* text, std::size_t capacity, std::size_t* length) {
    return ovt_explain_for(database, &asked.problem, &question, text, capacity, length);
  });
}

/// Asks without the strategy that answers, with and without sequential, and on fewer SMs.
void ask_otherwise(const ovt_database* database, const Question& asked, const ovt_answer& answer) {
  const std::set<std::string> all{"sequential", "chunked", "signaled", "waiting", "peer_store"};
  std::set<std::string> others = all;
  others.erase(answer.strategy);
  ask_for(database, asked, others, 0);
  others.erase("sequential");
  ask_for(database, asked, others, 0);
  ask_for(database, asked, all, 2);
}

/// Asks for the recipe of a weight, for few rows: more take long.
void ask_recipe(const ovt_database* database, const Question& asked) {
  ovt_problem most = asked.problem;
  most.m = 8 * most.ranks;
  std::array<char, 16384> text{};
  std::size_t length = 0;
  const ovt_question question{.size = sizeof(ovt_question), .launch = asked.launch};
  const ovt_status status =
      ovt_query_recipe(database, &most, &question, text.data(), text.size(), &length);
  if (status == OVT_ERROR_ARGUMENT) return;
  require(status == OVT_OK, std::string("a recipe, not ") + ovt_last_error());
  require(std::strlen(text.data()) == length, "its length");
  require(std::strncmp(text.data(), "recipe=1 ", 9) == 0, "a recipe");
  require(std::strstr(text.data(), "\nfrom=1 to=") != nullptr, "ranges that begin at one row");
}

bool equal_answers(const ovt_answer& a, const ovt_answer& b) {
  const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  return a.source == b.source && std::strcmp(a.config, b.config) == 0 &&
         same(a.measured_us, b.measured_us) && same(a.predicted_us, b.predicted_us) &&
         same(a.baseline_us, b.baseline_us) && std::strcmp(a.reason, b.reason) == 0;
}

void use(const std::string& path, Plain& plain, const ovt_platform* platform) {
  const std::array<const char*, 1> paths{path.c_str()};
  ovt_database* database = nullptr;
  const ovt_status status = ovt_open(paths.data(), 1, platform, &database);
  if (status != OVT_OK) {
    require(database == nullptr, "no handle");
    require_refusal(status);
    return;
  }
  std::vector<std::optional<ovt_answer>> answers;
  const auto asked = questions(plain);
  for (const Question& question : asked) {
    const auto& answer = answers.emplace_back(ask(database, question));
    if (!answer) continue;
    require_explanation([&](char* text, std::size_t capacity, std::size_t* length) {
      return ovt_explain(database, &question.problem, question.launch, text, capacity, length);
    });
    ask_otherwise(database, question, *answer);
    if (answer->source == OVT_EXACT) {
      require_stored(plain.database(), question.problem, question.launch, *answer);
    }
  }
  if (!answers.empty() && answers[0]) ask_recipe(database, asked[0]);
  require(ovt_reload(database) == OVT_OK, "a file that is as it was");
  if (!answers.empty() && answers[0]) {
    require(equal_answers(*answers[0], *ask(database, asked[0])), "the same answer");
  }
  ovt_close(database);
}

/// Copies a column of text, where it fits.
void copy_text(sqlite3_stmt* row, int column, char (&to)[OVT_TEXT_SIZE]) {
  const auto* text = sqlite3_column_text(row, column);
  const auto length = static_cast<std::size_t>(sqlite3_column_bytes(row, column));
  if (text != nullptr && length < sizeof to) std::memcpy(to, text, length);
}

/// Asks as a host with the GPUs of the first real platform and another driver, with the file as the
/// system's database as well: its winners are then answers of another host.
void use_elsewhere(const std::string& path, Plain& plain) {
  std::optional<ovt_platform> here;
  const char* const sql =
      "SELECT name, gpu_model, topology, transport, gpu_count, sms, compute_capability, "
      "multicast_allowed, memory_bytes FROM platforms WHERE machine = 'cuda' ORDER BY id LIMIT 1";
  plain.each(sql, [&](sqlite3_stmt* row) {
    here.emplace();
    here->size = sizeof *here;
    std::strcpy(here->machine, "cuda");
    std::strcpy(here->driver_version, "another");
    copy_text(row, 0, here->name);
    copy_text(row, 1, here->gpu_model);
    copy_text(row, 2, here->topology);
    copy_text(row, 3, here->transport);
    here->gpu_count = sqlite3_column_int(row, 4);
    here->sms = sqlite3_column_int(row, 5);
    here->compute_capability = sqlite3_column_int(row, 6);
    here->multicast_allowed = sqlite3_column_int(row, 7) != 0 ? 1 : 0;  // A host has no 7.
    here->memory_bytes = sqlite3_column_int64(row, 8);
  });
  if (!here) return;
  setenv("OVERLAPTUNE_SYSTEM_DB", path.c_str(), 1);
  use(path, plain, &*here);
  unsetenv("OVERLAPTUNE_SYSTEM_DB");
}

}  // namespace
}  // namespace overlaptune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace overlaptune::fuzz;
  const ScratchFile file("open", {data, size});
  Plain plain(file.path());
  // The platform that was added last; a simulated one answers only to its name.
  ovt_platform platform{};
  platform.size = sizeof platform;
  const char* const sql =
      "SELECT name FROM platforms WHERE id = (SELECT max(id) FROM platforms) AND machine = 'sim'";
  plain.each(sql, [&](sqlite3_stmt* row) { copy_text(row, 0, platform.name); });
  use(file.path(), plain, platform.name[0] == '\0' ? nullptr : &platform);
  // A platform that is not stored: the answer is a baseline, with what differs.
  std::strcpy(platform.machine, platform.name[0] == '\0' ? "cuda" : "sim");
  std::strcpy(platform.name, "mine");
  platform.sms = 7;
  use(file.path(), plain, &platform);
  use_elsewhere(file.path(), plain);
  return 0;
}
