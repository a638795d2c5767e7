#include "planning/whatif/cluster_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planning/whatif/algorithms.hpp"

namespace overlaptune::cluster {
namespace {

using ::testing::HasSubstr;

std::string figure(const std::string& value) {
  return R"({"value": )" + value + R"(, "source": "test"})";
}

/// A cluster with one level, whose fields `level` may replace.
std::string text(const std::string& size = "8", const std::string& links = "1",
                 const std::string& rate = "25", const std::string& latency = "1",
                 const std::string& rest = "", const std::string& kind = "switch") {
  return R"({"name": "mine", "description": "d", "launch_us": )" + figure("5") +
         R"(, "levels": [{"name": "a", "kind": ")" + kind + R"(", "size": )" + size +
         R"(, "links": )" + figure(links) + R"(, "gb_per_s": )" + figure(rate) +
         R"(, "latency_us": )" + figure(latency) + rest + "}]}";
}

std::string error(const std::string& json) {
  const auto cluster = parse_cluster(json, "f.json");
  return cluster ? "none" : cluster.error().message;
}

TEST(ClusterFile, reads_what_the_schema_says) {
  EXPECT_EQ(error(text()), "none");
  const auto cluster = value_or_throw(parse_cluster(
      text("[4, 2]", "2", "25.5", "0", R"(, "wrap_from": )" + figure("4"), "torus"), "f"));
  EXPECT_EQ(cluster.levels[0].sizes, (std::vector<int>{4, 2}));
  EXPECT_EQ(cluster.levels[0].links, 2);
  EXPECT_EQ(cluster.levels[0].gb_per_s, 25.5);
  EXPECT_EQ(cluster.levels[0].wrap_from, 4);
  EXPECT_EQ(most_gpus(cluster), 8);
}

TEST(ClusterFile, figures_that_cannot_be) {
  for (const char* rate : {"0", "-25", "NaN", "1e400", "\"25\"", "null"}) {
    EXPECT_THAT(error(text("8", "1", rate)), HasSubstr("f.json: ")) << rate;
  }
  EXPECT_THAT(error(text("8", "1", "0")), HasSubstr("levels[0].gb_per_s.value"));
  EXPECT_THAT(error(text("8", "1", "-25")), HasSubstr("levels[0].gb_per_s.value"));
  EXPECT_THAT(error(text("0")), HasSubstr("levels[0].size"));
  EXPECT_THAT(error(text("-8")), HasSubstr("levels[0].size"));
  EXPECT_THAT(error(text("[]", "1", "25", "1", "", "torus")), HasSubstr("levels[0].size"));
  EXPECT_THAT(error(text("8", "0")), HasSubstr("levels[0].links.value"));
  EXPECT_THAT(error(text("8", "1", "25", "-1")), HasSubstr("levels[0].latency_us.value"));
  EXPECT_THAT(error(text("[2, 4]")), HasSubstr("only a torus has several dimensions"));
  EXPECT_THAT(error(text("8", "1", "25", "1", "", "mesh")),
              HasSubstr("levels[0].kind: kind 'mesh': expected one of switch, ring"));
}

TEST(ClusterFile, curves_and_protocols_that_cannot_be) {
  const auto with = [](const std::string& field, const std::string& value) {
    return error(text("8", "1", "25", "1", ", \"" + field + "\": " + figure(value)));
  };
  EXPECT_THAT(with("efficiency", "[]"), HasSubstr("expected at least one [bytes, share]"));
  EXPECT_THAT(with("efficiency", "[[1, 1.5]]"), HasSubstr("at most 1"));
  EXPECT_THAT(with("efficiency", "[[1, 0]]"), HasSubstr("efficiency"));
  EXPECT_THAT(with("efficiency", "[[9, 0.5], [9, 0.6]]"), HasSubstr("ascending"));
  EXPECT_THAT(with("protocols", "[]"), HasSubstr("at least one protocol"));
  EXPECT_THAT(error(text("8", "1", "25", "1", ", \"root_gb_per_s\": " + figure("0"), "pcie")),
              HasSubstr("root_gb_per_s.value"));
  EXPECT_THAT(with("latencies", "1"), HasSubstr("levels[0].latencies: not a field that is read"));
}

TEST(ClusterFile, fields_of_another_kind_of_level_are_refused) {
  const auto with = [](const char* field, const std::string& value, const char* kind) {
    return error(
        text("9", "2", "25", "1", std::string(", \"") + field + "\": " + figure(value), kind));
  };
  const std::string multicast = R"({"share": 0.8, "latency_us": 60})";
  EXPECT_THAT(
      with("wrap_from", "4", "switch"),
      HasSubstr("levels[0].wrap_from: a field of levels of kind torus: expected none beside "
                "kind switch"));
  EXPECT_THAT(with("root_gb_per_s", "94", "switch"), HasSubstr("levels[0].root_gb_per_s: a field"));
  EXPECT_THAT(with("multicast", multicast, "ring"), HasSubstr("levels[0].multicast: a field"));
  EXPECT_EQ(with("wrap_from", "4", "torus"), "none");
  EXPECT_EQ(with("root_gb_per_s", "94", "pcie"), "none");
  EXPECT_EQ(with("multicast", multicast, "switch"), "none");
}

TEST(ClusterFile, a_size_is_a_whole_number) {
  for (const char* size : {"0", "8.5", "1000000", "\"8\"", "null", "{}"}) {
    EXPECT_THAT(error(text(size)),
                HasSubstr("levels[0].size: expected a whole number from 1 to 65536, found "))
        << size;
  }
}

TEST(ClusterFile, every_figure_has_a_source) {
  std::string json = text();
  json.replace(json.find("\"test\""), 6, "\"\"");
  EXPECT_THAT(error(json), HasSubstr("launch_us.source"));
  EXPECT_THAT(error(R"({"name": "m", "description": "d", "launch_us": 5})"),
              HasSubstr("launch_us: expected {\"value\""));
}

TEST(ClusterFile, files_that_are_no_clusters) {
  EXPECT_THAT(error(""), HasSubstr("f.json"));
  EXPECT_THAT(error("[1]"), HasSubstr("f.json"));
  EXPECT_THAT(error("{}"), HasSubstr("f.json"));
  EXPECT_THAT(error(R"({"name": "m", "description": "d", "launch_us": )" + figure("5") +
                    R"(, "levels": []})"),
              HasSubstr("levels: expected at least one level"));
}

TEST(ClusterFile, built_in_clusters_are_read) {
  EXPECT_GE(embedded_clusters().size(), 13U);
  for (const EmbeddedCluster& each : embedded_clusters()) {
    const auto cluster = find_cluster(each.name);
    ASSERT_TRUE(cluster) << cluster.error().message;
    EXPECT_EQ(cluster->name, each.name);
  }
  EXPECT_EQ(most_gpus(value_or_throw(find_cluster("hgx-h100"))), 8 * 128);
}

TEST(ClusterFile, a_node_is_joined_by_any_network) {
  const Cluster slow = value_or_throw(find_cluster("hgx-h100+ib-200"));
  EXPECT_EQ(slow.name, "hgx-h100+ib-200");
  ASSERT_EQ(slow.levels.size(), 2U);
  EXPECT_EQ(slow.levels[1].gb_per_s, 25);
  EXPECT_FALSE(find_cluster("hgx-h100+"));
  const auto unknown = find_cluster("hgx-h100+ib-100");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("--cluster ib-100: no such file"));
}

/// Four A100 with 12 links: four for each pair on a board without a switch. 8 H200 with 18 links
/// have switches.
TEST(ClusterFile, several_links_for_each_other_member_are_a_doubt) {
  const auto notes = [](int links, int size) {
    return value_or_throw(
               parse_cluster(R"({"name": "c", "description": "d",
                 "launch_us": {"value": 5, "source": "s"}, "levels": [{"name": "NVLink",
                 "kind": "switch", "size": )" +
                                 std::to_string(size) + R"(, "links": {"value": )" +
                                 std::to_string(links) +
                                 R"(, "source": "s"}, "gb_per_s": {"value": 25, "source": "s"},
                 "latency_us": {"value": 1, "source": "s"}}]})",
                             "c"))
        .notes;
  };
  ASSERT_EQ(notes(12, 4).size(), 1U);
  EXPECT_THAT(notes(12, 4).front(), AllOf(HasSubstr("12 links are a multiple of the 3 others"),
                                          HasSubstr("taken for a switch")));
  EXPECT_TRUE(notes(18, 8).empty());
  EXPECT_TRUE(notes(12, 8).empty());
  EXPECT_TRUE(notes(18, 2).empty());
  for (const EmbeddedCluster& each : embedded_clusters()) {
    EXPECT_TRUE(value_or_throw(parse_cluster(each.text, each.name)).notes.empty()) << each.name;
  }
}

/// Arithmetic: a pair has one of seven links of 48 GB/s; 4 GPUs have three each.
TEST(ClusterFile, members_with_a_link_for_each_other_one_are_a_mesh) {
  const auto cluster = value_or_throw(
      find_cluster(std::string(OVERLAPTUNE_TEST_DATA) + "/inputs/cluster-mesh-8.json"));
  ASSERT_EQ(cluster.notes.size(), 1U);
  EXPECT_THAT(cluster.notes.front(), HasSubstr("taken for a full mesh"));
  const auto us = [&](Operation operation, int gpus) {
    return value_or_throw(times_of(cluster, {operation, double{1 << 30}, gpus})).front().us;
  };
  EXPECT_NEAR(us(Operation::send, 2), (1 << 30) / 48e3, 10);
  EXPECT_NEAR(us(Operation::send, 8), (1 << 30) / 48e3, 10);
  EXPECT_NEAR(us(Operation::all_reduce, 2), (1 << 30) / 48e3, 10);
  EXPECT_NEAR(us(Operation::all_reduce, 4), 1.5 * (1 << 30) / (3 * 48e3), 20);
  EXPECT_NEAR(us(Operation::all_to_all, 8), (1 << 30) / 8 / 48e3, 20);
}

TEST(ClusterFile, more_gpus_than_a_number_holds_are_refused) {
  const std::string levels = text("65536");
  const std::size_t begin = levels.find("[{") + 1;
  const std::string level = levels.substr(begin, levels.find("}]") + 1 - begin);
  for (const int count : {4, 5, 21}) {
    std::string many = levels;
    for (int i = 1; i < count; ++i) many.insert(begin, level + ", ");
    EXPECT_THAT(error(many), HasSubstr("levels: expected at most 2^30 GPUs")) << count;
  }
  EXPECT_THAT(error(text("[65536, 65536, 65536, 65536]", "1", "25", "1", "", "torus")),
              HasSubstr("levels: expected at most 2^30 GPUs"));
}

TEST(ClusterFile, a_field_that_stands_twice_is_refused) {
  const auto cluster = parse_cluster(R"({"name": "a", "name": "b"})", "f");
  ASSERT_FALSE(cluster);
  EXPECT_THAT(cluster.error().message, HasSubstr("f: name: is there twice"));
}

}  // namespace
}  // namespace overlaptune::cluster
