#include "machine/controller/launch/job_secret.hpp"

#include <filesystem>
#include <map>
#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/tool.hpp"

namespace overlaptune::cuda {
namespace {

using ::testing::HasSubstr;

const std::string kGiven = "0123456789abcdef";

class JobSecret : public testing::Test {
 protected:
  Expected<LaunchEnvironment> find(std::map<std::string, std::string> variables, int rank = 0,
                                   const std::string& by_mpi = "") const {
    LaunchEnvironment launch{
        .launcher = Launcher::torchrun, .rank = rank, .size = 2, .job = "j", .secret = by_mpi};
    const auto found = find_secret(launch, [&](const char* name) -> std::optional<std::string> {
      const auto value = variables.find(name);
      if (value == variables.end()) return std::nullopt;
      return value->second;
    });
    if (!found) return error_of(found);
    return launch;
  }

  void expect_error(const std::map<std::string, std::string>& variables,
                    const std::string& part) const {
    for (const int rank : {0, 1}) {
      auto launch = find(variables, rank);
      const auto secret = launch ? job_secret(*launch) : error_of(launch);
      ASSERT_FALSE(secret) << part;
      EXPECT_EQ(secret.error().kind, ErrorKind::bad_input);
      EXPECT_THAT(secret.error().message, HasSubstr(part));
    }
  }

  tool::Folder folder{};
  std::filesystem::path home = folder.path();
  std::filesystem::path file = home / ".config" / "overlaptune" / "secret";
};

TEST_F(JobSecret, is_the_one_that_the_launcher_gives) {
  EXPECT_EQ(find({{"OVERLAPTUNE_SECRET", kGiven}, {"HOME", home}})->secret, kGiven);
  EXPECT_EQ(find({{"OVERLAPTUNE_SECRET", kGiven}}, 1, "by MPI")->secret, kGiven);
  EXPECT_EQ(find({{"HOME", home}}, 1, "by MPI")->secret, "by MPI");
  EXPECT_TRUE(folder.entries().empty());
}

TEST_F(JobSecret, is_in_a_file_that_rank_0_makes) {
  const auto agent = find({{"HOME", home}}, 1);
  ASSERT_TRUE(agent);
  EXPECT_FALSE(std::filesystem::exists(file));
  const auto controller = find({{"HOME", home}});
  ASSERT_TRUE(controller);
  EXPECT_EQ(controller->secret.size(), 64U);
  struct stat status {};
  ASSERT_EQ(stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600U);
  // The agent started earlier and finds it now; the next job has the same.
  EXPECT_EQ(*job_secret(*agent), *job_secret(*controller));
  EXPECT_EQ(find({{"HOME", home}})->secret, controller->secret);
  // A folder of its own has a secret of its own.
  const auto other = find({{"HOME", home}, {"OVERLAPTUNE_SECRET_FILE", home / "other"}});
  EXPECT_NE(other->secret, controller->secret);
}

TEST_F(JobSecret, differs_from_job_to_job) {
  LaunchEnvironment launch = *find({{"OVERLAPTUNE_SECRET", kGiven}});
  const std::string first = *job_secret(launch);
  launch.job = "k";
  EXPECT_NE(*job_secret(launch), first);
  EXPECT_EQ(first.find(kGiven), std::string::npos);
}

TEST_F(JobSecret, is_refused_if_it_can_be_guessed_or_read) {
  expect_error({{"OVERLAPTUNE_SECRET", "123456789abcdef"}},
               "environment variable OVERLAPTUNE_SECRET: a secret of 15 characters; expected at "
               "least 16, as `openssl rand -hex 32`");
  const std::string named = home / folder.write("named", "short");
  chmod(named.c_str(), 0600);
  expect_error({{"OVERLAPTUNE_SECRET_FILE", named}}, named + ": a secret of 5 characters");
  folder.write("named", kGiven);
  chmod(named.c_str(), 0640);
  expect_error({{"OVERLAPTUNE_SECRET_FILE", named}}, named + ": others may read it");
  chmod(named.c_str(), 0600);
  EXPECT_EQ(find({{"OVERLAPTUNE_SECRET_FILE", named}})->secret, kGiven);
}

TEST_F(JobSecret, is_empty_if_there_is_no_place_for_it) {
  for (const int rank : {0, 1}) {
    EXPECT_EQ(find({}, rank)->secret, "");
    folder.write("taken", "");
    const auto none = find({{"OVERLAPTUNE_SECRET_FILE", home / "taken" / "secret"}}, rank);
    ASSERT_TRUE(none);
    EXPECT_EQ(none->secret, "");
    EXPECT_TRUE(job_secret(*none));
  }
}

TEST_F(JobSecret, is_not_needed_without_a_launcher) {
  LaunchEnvironment plain;
  EXPECT_TRUE(find_secret(plain, [this](const char*) { return home.string(); }));
  EXPECT_EQ(plain, LaunchEnvironment{});
  EXPECT_TRUE(folder.entries().empty());
}

}  // namespace
}  // namespace overlaptune::cuda
