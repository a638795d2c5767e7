// Several overlaptune libraries in one process, and another SQLite beside them: none affects the
// others.

#include <dlfcn.h>
#include <overlaptune/overlaptune.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stored.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

/// A library as a plugin loads it.
class Loaded {
 public:
  explicit Loaded(const char* file, int scope = RTLD_LOCAL)
      : handle_(dlopen(file, RTLD_NOW | scope)) {
    EXPECT_NE(handle_, nullptr) << dlerror();
  }
  template <class F>
  [[nodiscard]] F* function(const char* name) const {
    return reinterpret_cast<F*>(dlsym(handle_, name));
  }

 private:
  void* handle_;  // stays open: thread-local objects may need the library until the end
};

/// The source of an answer from that library's own handle.
ovt_source source(const Loaded& library, const std::string& path) {
  const char* const paths[] = {path.c_str()};
  ovt_database* database = nullptr;
  EXPECT_EQ(library.function<decltype(ovt_open)>("ovt_open")(paths, 1, nullptr, &database), OVT_OK)
      << library.function<decltype(ovt_last_error)>("ovt_last_error")();
  const ovt_problem problem = stored::problem();
  ovt_answer answer;
  answer.size = sizeof answer;
  EXPECT_EQ(
      library.function<decltype(ovt_query)>("ovt_query")(database, &problem, OVT_GRAPH, &answer),
      OVT_OK);
  library.function<decltype(ovt_close)>("ovt_close")(database);
  return answer.source;
}

TEST(CopiesTest, TwoVersionsAnswerInOneProcess) {
  const TemporaryFolder folder;
  stored::put_winners(folder / "a.db", 1);
  for (const int scope : {RTLD_LOCAL, RTLD_GLOBAL}) {
    const Loaded first(QUERY_SHARED, scope);
    const Loaded second(QUERY_OTHER_VERSION, scope);
    const auto version = [](const Loaded& library) {
      return library.function<decltype(ovt_version)>("ovt_version")();
    };
    EXPECT_STREQ(version(first), ovt_version());
    EXPECT_STREQ(version(second), "9.8.7");
    EXPECT_EQ(source(first, folder / "a.db"), OVT_EXACT);
    EXPECT_EQ(source(second, folder / "a.db"), OVT_EXACT);
    // Each has an error of its own.
    const auto last_error = [](const Loaded& library) {
      return library.function<decltype(ovt_last_error)>("ovt_last_error")();
    };
    EXPECT_EQ(first.function<decltype(ovt_reload)>("ovt_reload")(nullptr), OVT_ERROR_ARGUMENT);
    EXPECT_NE(last_error(first), last_error(second));
  }
}

int connections = 0;

/// SQLite calls it for each connection that is opened, if it is the SQLite that was told to.
int count_connection(void* /*database*/, char** /*error*/, const void* /*api*/) {
  ++connections;
  return 0;
}

TEST(CopiesTest, AnotherSQLiteThatEveryoneSeesIsLeftAlone) {
  void* sqlite = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_GLOBAL);
  if (sqlite == nullptr) GTEST_SKIP() << "no shared SQLite here: apt-get install libsqlite3-0";
  const auto auto_extension =
      reinterpret_cast<int (*)(void (*)())>(dlsym(sqlite, "sqlite3_auto_extension"));
  const auto open = reinterpret_cast<int (*)(const char*, void**)>(dlsym(sqlite, "sqlite3_open"));
  const auto close = reinterpret_cast<int (*)(void*)>(dlsym(sqlite, "sqlite3_close"));
  ASSERT_EQ(auto_extension(reinterpret_cast<void (*)()>(&count_connection)), 0);
  void* theirs = nullptr;
  ASSERT_EQ(open(":memory:", &theirs), 0);
  ASSERT_EQ(connections, 1) << "it counts";

  const TemporaryFolder folder;
  stored::put_winners(folder / "a.db", 1);
  EXPECT_EQ(source(Loaded(QUERY_SHARED), folder / "a.db"), OVT_EXACT);
  EXPECT_EQ(source(Loaded(QUERY_OTHER_VERSION), folder / "a.db"), OVT_EXACT);
  EXPECT_EQ(connections, 1);
  EXPECT_EQ(close(theirs), 0);
}

}  // namespace
}  // namespace overlaptune
