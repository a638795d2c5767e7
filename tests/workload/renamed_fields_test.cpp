// Fields of known configs, renamed or moved: an answer has the right products, or it names what was
// renamed, as a refusal does.

#include <algorithm>
#include <array>
#include <cctype>
#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/workload/published.hpp"
#include "workload/workload.hpp"

namespace overlaptune {
namespace {

using nlohmann::json;

/// Products of an answer: their sizes, and how often a pass runs them.
std::set<json> products_of(const Workload& work) {
  std::set<json> list;
  for (const LayerGemm& gemm : work.gemms) {
    list.insert(
        json::array({to_string(gemm.product), gemm.problem.m, gemm.problem.n, gemm.problem.k,
                     gemm.times_per_pass, to_string(gemm.problem.elements)}));
  }
  for (const PlainGemm& gemm : work.plain_gemms) {
    list.insert(
        json::array({to_string(gemm.product), gemm.m, gemm.n, gemm.k, gemm.times_per_pass}));
  }
  return list;
}

struct Outcome {
  bool answered = false;
  std::set<json> products{};
  std::string words{};  ///< the error, or all notes
};

Outcome outcome_of(const json& document) {
  const auto config = parse_model_config(document.dump(), "config.json");
  if (!config) return {.words = config.error().message};
  auto work = workload(*config, {.tp = 2, .tokens = {64}, .parallelism = {Parallelism::sequence}});
  if (!work) return {.words = work.error().message};
  Outcome outcome{.answered = true, .products = products_of(*work)};
  for (const std::string& note : work->notes) outcome.words += note + "\n";
  return outcome;
}

/// The names that the changed field had and has, of which an answer must name one.
struct Change {
  json document{};
  std::set<std::string> names{};
};

/// Objects of a document that hold a language model's fields, as paths.
json::json_pointer language_of(const json& document) {
  json::json_pointer at;
  for (const char* name : {"text_config", "llm_config", "language_config"}) {
    if (document.at(at).contains(name)) at /= name;
  }
  return at;
}

std::string other_name(const std::string& name, std::mt19937_64& random) {
  std::string other = name;
  const std::size_t at = random() % name.size();
  switch (random() % 6) {
    case 0:  // a letter is missing
      return other.erase(at, 1);
    case 1:  // two letters change places
      if (at + 1 < other.size()) std::swap(other[at], other[at + 1]);
      return other;
    case 2:
      return "new_" + name;
    case 3:
      return name + "_per_block";
    case 4:  // camelCase
      for (auto place = other.find('_'); place != other.npos; place = other.find('_')) {
        other.erase(place, 1);
        if (place < other.size()) {
          other[place] = static_cast<char>(std::toupper(static_cast<unsigned char>(other[place])));
        }
      }
      return other;
    default:
      return "zq" + std::to_string(random() % 1000);
  }
}

Change changed(json document, std::mt19937_64& random) {
  const auto place = language_of(document);
  json& object = document.at(place);
  const auto field =
      std::next(object.begin(), static_cast<std::ptrdiff_t>(random() % object.size()));
  const std::string name = field.key();
  const json value = field.value();
  if (random() % 3 != 0) {  // renamed
    const std::string other = other_name(name, random);
    if (other.empty() || object.contains(other)) return {std::move(document), {}};
    object.erase(name);
    object[other] = value;
    return {std::move(document), {name, other}};
  }
  object.erase(name);
  const std::array<const char*, 4> wrappers{"attention", "vision_config", "layer_config", "extra"};
  const std::string wrapper = wrappers.at(random() % wrappers.size());
  if (random() % 2 == 0) {
    object[wrapper][name] = value;
  } else {
    document[wrapper][name] = value;
  }
  return {std::move(document), {name, wrapper}};
}

bool is_part_of_names(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Whether a name stands in a text as a whole word: "head_dim" is none of "global_head_dim".
bool has_name(const std::string& words, const std::string& name) {
  for (auto at = words.find(name); at != words.npos; at = words.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool begins = at == 0 || !is_part_of_names(words[at - 1]);
    if (begins && (end == words.size() || !is_part_of_names(words[end]))) return true;
  }
  return false;
}

bool names_one(const std::string& words, const std::set<std::string>& names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return has_name(words, name); });
}

TEST(RenamedFields, are_answered_rightly_or_named) {
  constexpr int kChanges = 250;  // of each config
  std::mt19937_64 random(47);
  int answered = 0;
  int named = 0;
  int refused = 0;
  for (const auto& [name, original, unused] : published::all()) {
    const Outcome right = outcome_of(original);
    ASSERT_TRUE(right.answered) << name << right.words;
    for (int i = 0; i < kChanges; ++i) {
      const Change change = changed(original, random);
      const Outcome outcome = outcome_of(change.document);
      answered += outcome.answered ? 1 : 0;
      if (outcome.answered && outcome.products == right.products) continue;
      named += outcome.answered ? 1 : 0;
      refused += outcome.answered ? 0 : 1;
      EXPECT_TRUE(names_one(outcome.words, change.names))
          << name << " with " << testing::PrintToString(change.names) << ":\n"
          << outcome.words;
    }
  }
  // The test would show nothing if every change were refused or none, or none changed the products.
  EXPECT_GT(answered, 1000);
  EXPECT_GT(named, 100);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace overlaptune
