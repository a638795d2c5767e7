#include "machine/simulator/profile.hpp"

#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/machine/simulator/built_in.hpp"

namespace overlaptune::sim {
namespace {

using nlohmann::json;

json good() {
  return json::parse(test::built_in(test::kRings));
}

/// The message of a profile in which the value at `pointer` is `value`.
std::string message(const std::string& pointer, const json& value) {
  json document = good();
  document[json::json_pointer(pointer)] = value;
  const auto profile = parse_profile(document.dump(), "p.json");
  if (profile) return "accepted";
  EXPECT_EQ(profile.error().kind, ErrorKind::bad_input);
  EXPECT_EQ(profile.error().message.find('\n'), std::string::npos);
  return profile.error().message;
}

TEST(Profile, every_built_in_profile_is_good) {
  EXPECT_EQ(embedded_profiles().size(), 7U);
  for (const EmbeddedProfile& embedded : embedded_profiles()) {
    const auto profile = parse_profile(embedded.text, embedded.name);
    ASSERT_TRUE(profile) << profile.error().message;
    EXPECT_EQ(profile->name, embedded.name);
    EXPECT_GE(profile->collectives.size(), 4U);
  }
}

TEST(Profile, messages_name_the_path_what_was_found_and_what_is_allowed) {
  EXPECT_EQ(message("/gpu/sms/value", -3),
            "p.json: gpu.sms.value: expected a whole number from 2 to 1024, found -3");
  EXPECT_EQ(message("/launch/signal_us/value", "NaN"),
            "p.json: launch.signal_us.value: expected a number from 0 to 1e+06, found \"NaN\"");
  EXPECT_EQ(message("/gpu/sms", json::object({{"value", 132}})), "p.json: gpu.sms.source: missing");
}

TEST(Profile, wrong_values_are_refused_wherever_they_are) {
  EXPECT_NE(message("/gpu/tile_spread/value", 0.9).find("gpu.tile_spread"), std::string::npos);
  EXPECT_NE(message("/gpu/count/value", 2.5).find("gpu.count"), std::string::npos);
  EXPECT_NE(message("/gpu/model/value", 5).find("gpu.model"), std::string::npos);
  EXPECT_NE(message("/gpu", 5).find("gpu: expected an object"), std::string::npos);
  EXPECT_NE(message("/power/limit_w/value", 1).find("limit_w above idle_w"), std::string::npos);
  EXPECT_NE(message("/collectives", json::array()).find("collectives"), std::string::npos);
  EXPECT_NE(message("/collectives/1/collective", "gossip").find("collectives[1].collective"),
            std::string::npos);
  EXPECT_NE(message("/collectives/0/times_us/value/2/0", 5000).find("times_us.value[2]"),
            std::string::npos);
  EXPECT_NE(message("/collectives/0/times_us/value/2/1", -1).find("times_us.value[2]"),
            std::string::npos);
  EXPECT_NE(message("/collectives/0/times_us/value/2", json::array({1})).find("value[2]"),
            std::string::npos);
  EXPECT_NE(message("/collectives/0/launch_in_times_us/value", 100).find("collectives[0]"),
            std::string::npos);
  EXPECT_NE(message("/collectives/0/ranks/value", 16).find("collectives[0].ranks"),
            std::string::npos);
  EXPECT_NE(message("/library/menu/0", json::array({512, 512, 64, 4, 1})).find("library.menu[0]"),
            std::string::npos);
  EXPECT_NE(message("/gpu/sms/source", "").find("gpu.sms.source"), std::string::npos);
}

TEST(Profile, every_field_is_required) {
  const json whole = good();
  for (const auto& section : whole.items()) {
    json document = whole;
    document.erase(section.key());
    const auto profile = parse_profile(document.dump(), "p.json");
    ASSERT_FALSE(profile) << section.key();
    EXPECT_EQ(profile.error().message, "p.json: " + section.key() + ": missing");
  }
  for (const std::string section : {"software", "gpu", "copy"}) {
    for (const auto& field : whole[section].items()) {
      json document = whole;
      document[section].erase(field.key());
      const auto profile = parse_profile(document.dump(), "p.json");
      ASSERT_FALSE(profile) << field.key();
      EXPECT_EQ(profile.error().message, "p.json: " + section + "." + field.key() + ": missing");
    }
  }
}

TEST(Profile, fields_that_are_not_read_are_named) {
  for (const EmbeddedProfile& embedded : embedded_profiles()) {
    EXPECT_TRUE(value_or_throw(parse_profile(embedded.text, "p.json")).unknown_fields.empty())
        << embedded.name;
  }
  json document = good();
  document["library"]["partail"] = {{"value", 0.9}, {"source", "a guess"}};
  document["gpu"]["sms"]["unit"] = "SMs";
  document["collectives"][1]["wholly_other"] = 1;
  const auto profile = value_or_throw(parse_profile(document.dump(), "p.json"));
  EXPECT_EQ(profile.unknown_fields,
            (std::vector<std::string>{
                "collectives[1].wholly_other: not a field that is read",
                "gpu.sms.unit: not a field that is read",
                "library.partail: not a field that is read; did you mean 'partial'?"}));
}

TEST(Profile, a_name_can_stand_in_a_command_line) {
  for (const char* name : {"mine", "H200_x8.v2-b"}) EXPECT_EQ(message("/name", name), "accepted");
  for (const char* name : {"", "two words", "a/b", "a:b", "µ", "$(ls)", "a\nb"}) {
    EXPECT_EQ(message("/name", name)
                  .find("p.json: name: expected letters, digits, '-', '_' and '.', found \""),
              0U)
        << message("/name", name);
  }
}

/// The message of the default profile after a change.
template <class Change>
std::string after(const Change& change) {
  json document = json::parse(embedded_profiles().front().text);
  change(document);
  const auto profile = parse_profile(document.dump(), "p.json");
  return profile ? "accepted" : profile.error().message;
}

TEST(Profile, parts_that_may_be_left_out_are_checked_where_they_are_there) {
  EXPECT_EQ(after([](json& /*same*/) {}), "accepted");
  EXPECT_EQ(after([](json& profile) { profile.erase("peer"); }), "p.json: peer: missing");
  EXPECT_EQ(after([](json& profile) { profile.erase("store"); }), "p.json: store: missing");
  EXPECT_EQ(after([](json& profile) { profile["store"].erase("run_us"); }),
            "p.json: store.run_us: missing");
  EXPECT_EQ(after([](json& profile) { profile["copy"].erase("queue"); }),
            "p.json: copy.queue: missing");
  EXPECT_EQ(after([](json& profile) { profile["peer"]["start_us"]["value"] = 10; }),
            "p.json: peer: expected start_us and finish_us within the least time of each "
            "peer_access curve");
  EXPECT_EQ(after([](json& profile) { profile.erase("congestion"); }),
            "p.json: contention: missing");
  EXPECT_EQ(after([](json& profile) { profile["collectives"][0].erase("times_us_by_ctas"); }),
            "p.json: collectives[0].cta_gb_per_s: missing");
  EXPECT_EQ(after([](json& profile) { profile["collectives"][0].erase("queue"); }),
            "p.json: collectives[0].queue: missing");
  EXPECT_EQ(after([](json& profile) {
              auto& rows = profile["collectives"][0]["times_us_by_ctas"]["value"];
              std::swap(rows[0], rows[1]);
            }),
            "p.json: collectives[0].times_us_by_ctas.value[1]: expected more CTAs than in the row "
            "before");
  EXPECT_EQ(after([](json& profile) { profile["power"]["governor"]["peak_w"]["value"] = 600; }),
            "p.json: power.governor: expected peak_w above limit_w");
  EXPECT_EQ(after([](json& profile) { profile["power"].erase("governor"); }), "accepted");
  EXPECT_EQ(after([](json& profile) { profile["launch"].erase("kernel_trigger_us"); }), "accepted");
}

TEST(Profile, text_that_is_no_profile_is_refused) {
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string("null"),
        std::string("{\"name\": NaN}"), std::string("{\"name\": 1e999}"), std::string(3, '\0'),
        std::string(100000, '['), std::string("\xff\xfe{}"), std::string((1 << 20) + 1, ' ')}) {
    const auto profile = parse_profile(text, "p.json");
    ASSERT_FALSE(profile);
    EXPECT_EQ(profile.error().message.find("p.json: "), 0U);
    EXPECT_LT(profile.error().message.size(), 200U);
  }
}

TEST(Profile, what_is_not_json_is_named_by_its_field) {
  const auto profile =
      parse_profile(R"({"gpu": {"sms": {"value": 8}, "l2_mib": {"value": NaN}}})", "p.json");
  ASSERT_FALSE(profile);
  EXPECT_EQ(profile.error().message.find("p.json: gpu.l2_mib.value: not JSON near byte"), 0U)
      << profile.error().message;
  const auto in_array = parse_profile(R"({"collectives": [{"ranks": [1, -Infinity]}]})", "p.json");
  ASSERT_FALSE(in_array);
  EXPECT_EQ(in_array.error().message.find("p.json: collectives.ranks: not JSON"), 0U)
      << in_array.error().message;
}

TEST(Curve, is_linear_between_points_and_beyond_the_last) {
  const Curve curve{{100, 200, 400}, {10, 30, 40}};
  EXPECT_DOUBLE_EQ(curve.linear(1), 10);
  EXPECT_DOUBLE_EQ(curve.linear(150), 20);
  EXPECT_DOUBLE_EQ(curve.linear(200), 30);
  EXPECT_DOUBLE_EQ(curve.linear(600), 50);
  EXPECT_DOUBLE_EQ(curve.logarithmic(1), 10);
  EXPECT_DOUBLE_EQ(curve.logarithmic(141.4213562373095), 20);
  EXPECT_DOUBLE_EQ(curve.logarithmic(1e6), 40);
  EXPECT_DOUBLE_EQ(curve.geometric(1), 10);
  EXPECT_NEAR(curve.geometric(141.4213562373095), std::sqrt(10 * 30.0), 1e-9);
  EXPECT_DOUBLE_EQ(curve.geometric(600), 50);
}

}  // namespace
}  // namespace overlaptune::sim
