#include "machine/catalogue.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "machine/simulator/profile.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

std::filesystem::path write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path) << text;
  return path;
}

/// The default profile under another name.
std::string renamed_profile() {
  std::string text(sim::embedded_profiles().front().text);
  const std::string name = "\"h200-nvlink-x8\"";
  return text.replace(text.find(name), name.size(), "\"mine\"");
}

/// The results of these tests must not depend on the GPUs of this host.
const bool kWithoutGpus = setenv("OVERLAPTUNE_WORKER", "/no/such/worker", 1) == 0;

TEST(Catalogue, lists_the_built_in_machines_and_cuda) {
  const auto entries = list_machines({});
  ASSERT_TRUE(entries);
  std::set<std::string> names;
  for (const MachineEntry& entry : *entries) names.insert(entry.name);
  EXPECT_EQ(names,
            (std::set<std::string>{"sim:h200-nvlink-x8", "sim:h200-nvlink-x4", "sim:h200-nvlink-x2",
                                   "sim:h200-rings-x8", "sim:h200-hostmem-x4", "sim:a100-nvlink-x8",
                                   "sim:rtx4090-pcie-x4", "cuda"}));
}

TEST(Catalogue, opens_every_machine_that_it_lists_as_available) {
  const auto entries = list_machines({});
  for (const MachineEntry& entry : *entries) {
    const auto machine = open_machine(entry.name, {});
    EXPECT_EQ(machine.has_value(), entry.available) << entry.name;
    EXPECT_EQ(entry.reason.empty(), entry.available) << entry.name;
    if (!machine) continue;
    EXPECT_EQ("sim:" + (*machine)->platform().name, entry.name);
  }
}

TEST(Catalogue, auto_is_the_default_simulation_without_gpus) {
  EXPECT_EQ(value_or_throw(open_machine("auto", {}))->platform().name, "h200-nvlink-x8");
}

TEST(Catalogue, cuda_is_unavailable_and_an_unknown_name_is_bad_input) {
  const auto cuda = open_machine("cuda", {});
  ASSERT_FALSE(cuda);
  EXPECT_EQ(cuda.error().kind, ErrorKind::machine_unavailable);
  const auto named = open_machine("cuda:h200-nvlink-x8", {});
  ASSERT_FALSE(named);
  EXPECT_EQ(named.error().kind, ErrorKind::machine_unavailable);
  const auto unknown = open_machine("sim:b200", {});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, ErrorKind::bad_input);
  EXPECT_NE(unknown.error().message.find("sim:h200-nvlink-x8"), std::string::npos);
}

TEST(Catalogue, a_profile_of_the_user_adds_a_machine) {
  const TemporaryFolder folder;
  const MachineOptions options{.profiles = {write(folder / "mine.json", renamed_profile())}};
  const auto machine = open_machine("sim:mine", options);
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ((*machine)->platform().name, "mine");
  EXPECT_NE(fingerprint((*machine)->platform()),
            fingerprint(value_or_throw(open_machine("auto", {}))->platform()));
}

TEST(Catalogue, bad_profile_files_are_named) {
  const auto check = [](const std::filesystem::path& path, const std::string& part) {
    const auto entries = list_machines({.profiles = {path}});
    ASSERT_FALSE(entries);
    EXPECT_NE(entries.error().message.find(path.string()), std::string::npos);
    EXPECT_NE(entries.error().message.find(part), std::string::npos) << entries.error().message;
  };
  const TemporaryFolder folder;
  check("/nonexistent/profile.json", "no such file");
  check(folder.path(), "not a regular file");
  check(write(folder / "empty.json", ""), "empty");
  check(write(folder / "taken.json", std::string(sim::embedded_profiles().front().text)), "taken");
  check(write(folder / "huge.json", std::string(3 << 20, ' ')), "expected a smaller file");
}

TEST(Catalogue, bad_faults_are_refused) {
  const auto machine = open_machine("auto", {.faults = "hang=2"});
  ASSERT_FALSE(machine);
  EXPECT_EQ(machine.error().kind, ErrorKind::bad_input);
}

}  // namespace
}  // namespace overlaptune
