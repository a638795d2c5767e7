// Costs from documents and from measurements.

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "planning/sequences/lengths.hpp"
#include "planning/sequences/measured_costs.hpp"
#include "planning/sequences/published_costs.hpp"
#include "planning/sequences/rates.hpp"

namespace overlaptune {
namespace {

constexpr const char* kDocument = R"({
  "models": {"small": {"a1": 1e-5, "a2": 0.2, "b1": 600, "hidden": 4096, "layers": 32,
                       "memory_per_token": 4, "parameters": {"4k": 6, "192k": 7}}},
  "bandwidth": {"2": 120, "4": 100},
  "memory_budget_gb": 28})";

std::string message(const std::string& text, int gpus = 4, const std::string& model = "small") {
  const auto read =
      parse_published_costs(text, "costs.json", {.model = model, .max_length = 4096, .gpus = gpus});
  return read ? "" : read.error().message;
}

std::string changed(const std::string& from, const std::string& to) {
  std::string text = kDocument;
  return text.replace(text.find(from), from.size(), to);
}

TEST(PublishedCosts, follow_the_formulas) {
  const auto read = parse_published_costs(kDocument, "costs.json",
                                          {.model = "small", .max_length = 100'000, .gpus = 4});
  ASSERT_TRUE(read) << read.error().message;
  const Coefficients& costs = read->costs;
  EXPECT_DOUBLE_EQ(costs.compute_us(1000), (1e-5 * 1000 * 1000 + 0.2 * 1000) * 1e3);
  EXPECT_DOUBLE_EQ(costs.fixed_us(2), 600e3);
  // 8 tensors of 4096 elements of 2 bytes in 32 layers, halved, at 120 GB/s.
  EXPECT_DOUBLE_EQ(costs.exchange_us_per_token(2), 8.0 * 4096 * 2 * 32 / 2 / 120e3);
  EXPECT_EQ(costs.exchange_us_per_token(1), 0);
  EXPECT_DOUBLE_EQ(costs.token_bytes(), 4.0 * (1 << 20));
  EXPECT_DOUBLE_EQ(costs.state_bytes(), 7e9 * 16 / 4);  // the count for up to 192k
  EXPECT_DOUBLE_EQ(read->memory_bytes, 28.0 * (1 << 30));
}

TEST(PublishedCosts, of_a_group_with_rates) {
  const auto read = parse_published_costs(kDocument, "costs.json",
                                          {.model = "small", .max_length = 4096, .gpus = 4});
  ASSERT_TRUE(read);
  const Rates rates(read->costs, {4, 4, read->memory_bytes});
  EXPECT_EQ(rates.levels(), 3);
  EXPECT_DOUBLE_EQ(rates.time(1000, 2), 210e3 / 4 + 1000 * 8.0 * 4096 * 2 * 32 / 4 / 100e3);
  EXPECT_EQ(rates.capacity(0),
            static_cast<std::int64_t>(std::floor((28.0 * (1 << 30) - 6e9 * 16 / 4) / (4 << 20))));
}

TEST(PublishedCosts, bad_documents_are_named) {
  EXPECT_EQ(message(kDocument), "");
  for (const auto& [from, to, word] : std::initializer_list<std::array<std::string, 3>>{
           {R"("a2": 0.2, )", "", "a2"},
           {R"("a2": 0.2)", R"("a2": -0.2)", "a2"},
           {R"("a2": 0.2)", R"("a2": "x")", "a2"},
           {R"("a1": 1e-5)", R"("a1": NaN)", "costs.json"},
           {R"("a1": 1e-5)", R"("a1": 1e999)", "costs.json"},
           {R"("hidden": 4096)", R"("hidden": 0)", "hidden"},
           {R"("2": 120)", R"("2": 0)", "bandwidth"},
           {R"("2": 120, )", "", "bandwidth"},
           {R"("192k": 7)", R"("abc": 7)", "parameters"},
           {R"({"4k": 6, "192k": 7})", "{}", "parameters"},
           {R"("memory_budget_gb": 28)", R"("memory_budget_gb": -28)", "memory_budget_gb"}}) {
    const std::string found = message(changed(from, to));
    EXPECT_NE(found.find(word), std::string::npos) << from << " -> " << to << ": " << found;
    EXPECT_NE(found.find("costs.json"), std::string::npos) << found;
    EXPECT_EQ(found.find('\n'), std::string::npos) << found;
  }
  EXPECT_NE(message(kDocument, 8).find("8"), std::string::npos);
  EXPECT_NE(message(kDocument, 4, "large").find("small"), std::string::npos);
  EXPECT_NE(message("[]").find("costs.json"), std::string::npos);
}

TEST(PublishedCosts, fields_that_are_not_read_are_refused) {
  EXPECT_EQ(message(changed(R"("b1": 600)", R"("b1": 600, "B1": 3)")),
            "costs.json: models.small.B1: not a field that is read");
  EXPECT_EQ(message(changed(R"("bandwidth")", R"("gpus_pernode": 8, "source": "s", "bandwidth")")),
            "costs.json: gpus_pernode: not a field that is read; did you mean 'gpus_per_node'?");
  EXPECT_NE(message(changed(R"("b1": 600)", R"("b1": 600, "b1": 5)")).find("b1: is there twice"),
            std::string::npos);
  EXPECT_NE(message(changed(R"("2": 120)", R"("2": 120, "3": 50)")).find("bandwidth: '3'"),
            std::string::npos);
  for (const char* layers : {"32.5", "-1", "0", "1e300"}) {
    EXPECT_NE(message(changed("32", layers)).find("models.small.layers: "), std::string::npos);
  }
  // Other models of the file are not read.
  EXPECT_EQ(message(changed(R"("models": {)", R"("models": {"other": {"a3": 1}, )")), "");
}

TEST(PublishedCosts, parameters_of_shorter_contexts_only_are_noted) {
  const auto notes = [](std::int64_t max_length) {
    return parse_published_costs(kDocument, "costs.json",
                                 {.model = "small", .max_length = max_length, .gpus = 4})
        ->notes;
  };
  EXPECT_TRUE(notes(196'608).empty());
  ASSERT_EQ(notes(200'000).size(), 1U);
  EXPECT_EQ(notes(200'000).front(),
            "parameters of length 192k, because the file has none for lengths of up to 200000");
  EXPECT_NE(message(changed(R"("192k": 7)", R"("4096": 7)")).find("one length"), std::string::npos);
}

TEST(KnownCosts, are_read_and_refused) {
  const auto known = parse_known_costs(
      R"({"bandwidth": {"16": 10.5}, "attention_tflops": 400, "b1": 3, "parameters": 7})",
      "k.json");
  ASSERT_TRUE(known) << known.error().message;
  EXPECT_DOUBLE_EQ(known->bytes_per_us.at(16), 10.5e3);
  EXPECT_DOUBLE_EQ(*known->attention_tflops, 400);
  EXPECT_DOUBLE_EQ(*known->fixed_us, 3000);
  EXPECT_DOUBLE_EQ(*known->parameters, 7e9);
  EXPECT_DOUBLE_EQ(parse_known_costs(R"({"bandwidth": {"2": 0.5}})", "k.json")->bytes_per_us.at(2),
                   500);
  for (const char* text :
       {R"({"bandwidth": {"1": 5}})", R"({"bandwidth": {"x": 1}})", R"({"bandwidth": {"16": 0}})",
        R"({"attention_tflops": -1})", R"({"b1": "3"})", "[]", "{", R"({"bandwidth": {"3": 5}})",
        R"({"bandwidth": {"1k": 5}})", R"({"attention_tflop": 450})", R"({"B1": 1})",
        R"({"b1": 1, "b1": 5})"}) {
    EXPECT_FALSE(parse_known_costs(text, "k.json")) << text;
  }
}

TEST(Lengths, are_whole_numbers_above_zero) {
  EXPECT_EQ(*parse_lengths("5\n\n 7 \r\n", "l"), (std::vector<std::int64_t>{5, 7}));
  for (const char* text :
       {"0\n", "-1\n", "1.5\n", "x\n", "1 2\n", "99999999999999999999\n", "", "\n\n"}) {
    const auto read = parse_lengths(text, "l.txt");
    ASSERT_FALSE(read) << text;
    EXPECT_NE(read.error().message.find("l.txt"), std::string::npos);
  }
  EXPECT_NE(parse_lengths("4\n4\nx\n", "l").error().message.find("line 3"), std::string::npos);
}

TEST(Lengths, above_the_most_are_dropped_or_cut) {
  const auto dropped = prepare_lengths({1, 100, 8, 9}, 9, TooLong::drop, 4);
  EXPECT_EQ(dropped.lengths, (std::vector<std::int64_t>{4, 8, 12}));
  EXPECT_EQ(dropped.too_long, 1U);
  const auto cut = prepare_lengths({1, 100}, 9, TooLong::cut, 4);
  EXPECT_EQ(cut.lengths, (std::vector<std::int64_t>{4, 12}));
}

}  // namespace
}  // namespace overlaptune
