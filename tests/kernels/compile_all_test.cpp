#include "kernels/compile/compile_all.hpp"

#include <stdexcept>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/kernels/sources.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune::kernels {
namespace {

std::vector<CompileJob> jobs(int count) {
  std::vector<CompileJob> list;
  list.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    list.push_back({.source = small_kernel(i), .architecture = i % 2 == 0 ? "sm_80" : "sm_90a"});
  }
  return list;
}

class CompileAll : public WithNvrtc {
 protected:
  TemporaryFolder temporary;
  CubinCache cache{{.folder = temporary.path()}};
};

TEST_F(CompileAll, results_keep_the_order_of_the_jobs_and_come_from_the_cache_then) {
  auto list = jobs(7);
  list[3].source.text = "what is this";
  std::vector<std::size_t> steps;
  const auto results = compile_all(*compiler, cache, list, 3,
                                   [&](std::size_t done, std::size_t total, const CompileJob&) {
                                     EXPECT_EQ(total, 7U);
                                     steps.push_back(done);
                                     return true;
                                   });
  EXPECT_THAT(steps, testing::ElementsAre(1, 2, 3, 4, 5, 6, 7));
  ASSERT_EQ(results.size(), 7U);
  const auto again = compile_all(*compiler, cache, list, 2);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i == 3) {
      EXPECT_FALSE(results[i]);
      EXPECT_FALSE(again[i]);
      continue;
    }
    ASSERT_TRUE(results[i]) << results[i].error().message;
    EXPECT_FALSE(results[i]->from_cache);
    EXPECT_TRUE(again[i]->from_cache);
    EXPECT_EQ(results[i]->cubin, again[i]->cubin);
    EXPECT_EQ(results[i]->cubin, *compiler->compile(list[i].source, list[i].architecture));
  }
  EXPECT_EQ(cache.contents().entries, 6U);
}

TEST_F(CompileAll, a_damaged_entry_is_compiled_again) {
  const auto list = jobs(1);
  (void)compile_all(*compiler, cache, list, 1);
  const auto file = cache.file_of(compiler->key(list[0].source, list[0].architecture));
  std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  EXPECT_FALSE(compile_all(*compiler, cache, list, 1)[0]->from_cache);
  EXPECT_TRUE(compile_all(*compiler, cache, list, 1)[0]->from_cache);
}

TEST_F(CompileAll, two_at_once_on_one_folder) {
  const auto list = jobs(4);
  std::vector<Expected<Compiled>> other;
  std::thread second([&] {
    const CubinCache own({.folder = temporary.path()});
    other = compile_all(*compiler, own, list, 2);
  });
  const auto results = compile_all(*compiler, cache, list, 2);
  second.join();
  for (std::size_t i = 0; i < list.size(); ++i) EXPECT_EQ(results[i]->cubin, other[i]->cubin);
  EXPECT_EQ(cache.contents().entries, 4U);
}

TEST_F(CompileAll, progress_can_end_it) {
  const auto results =
      compile_all(*compiler, cache, jobs(5), 1,
                  [](std::size_t done, std::size_t, const CompileJob&) { return done < 2; });
  EXPECT_TRUE(results[0]);
  EXPECT_TRUE(results[1]);
  EXPECT_THAT(results[2].error().message, testing::HasSubstr("stopped"));
}

TEST_F(CompileAll, what_progress_throws_comes_out) {
  EXPECT_THROW((void)compile_all(*compiler, cache, jobs(4), 2,
                                 [](std::size_t, std::size_t, const CompileJob&) -> bool {
                                   throw std::runtime_error("enough");
                                 }),
               std::runtime_error);
  EXPECT_TRUE(compile_all(*compiler, cache, {}, 4).empty());
}

}  // namespace
}  // namespace overlaptune::kernels
