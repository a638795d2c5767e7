#include "core/base/dynamic_library.hpp"

#include <array>
#include <filesystem>

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

// The C library's own mathematics library: it is on every machine, and its values are known.
const std::string kLibrary = "libm.so.6";
const std::string kMissing = "/no/such/folder/libmissing.so.1";

struct Functions {
  double (*cosine)(double) = nullptr;
  double (*root)(double) = nullptr;
};

Expected<Functions> functions_of(const DynamicLibrary& library) {
  Functions functions;
  const auto found = library.find({{"cos", functions.cosine}, {"sqrt", functions.root}});
  if (!found) return error_of(found);
  return functions;
}

TEST(DynamicLibrary, its_functions_can_be_called) {
  const auto library = value_or_throw(DynamicLibrary::open(kLibrary));
  EXPECT_EQ(library.name(), kLibrary);
  const Functions functions = value_or_throw(functions_of(library));
  EXPECT_EQ(functions.cosine(0), 1);
  EXPECT_EQ(functions.root(49), 7);
}

TEST(DynamicLibrary, knows_the_file_that_it_came_from) {
  const std::filesystem::path path = value_or_throw(DynamicLibrary::open(kLibrary)).path();
  EXPECT_TRUE(path.is_absolute()) << path;
  EXPECT_EQ(path.filename(), kLibrary);
  EXPECT_TRUE(std::filesystem::exists(path)) << path;
}

TEST(DynamicLibrary, one_that_is_not_there_is_named) {
  const auto library = DynamicLibrary::open(kMissing);
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().kind, ErrorKind::machine_unavailable);
  EXPECT_NE(library.error().message.find(kMissing), std::string::npos) << library.error().message;
}

TEST(DynamicLibrary, a_symbol_that_it_lacks_is_named_with_it) {
  const auto library = value_or_throw(DynamicLibrary::open(kLibrary));
  Functions functions;
  const auto found =
      library.find({{"cos", functions.cosine}, {"no_such_function", functions.root}});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message, "libm.so.6 lacks no_such_function");
  EXPECT_EQ(found.error().kind, ErrorKind::machine_unavailable);
  EXPECT_EQ(functions.cosine(0), 1);
  EXPECT_EQ(functions.root, nullptr);
}

TEST(LoadFirst, passes_over_those_that_are_not_there_or_do_not_do) {
  // The C library has neither cos nor sqrt.
  const std::array<std::string, 3> names{kMissing, "libc.so.6", kLibrary};
  const auto functions = load_first(names, functions_of);
  ASSERT_TRUE(functions) << functions.error().message;
  EXPECT_EQ(functions->root(49), 7);
}

TEST(LoadFirst, takes_no_further_one_than_it_needs) {
  const std::array<std::string, 2> names{kLibrary, "libc.so.6"};
  const auto name = load_first(
      names, [](const DynamicLibrary& library) -> Expected<std::string> { return library.name(); });
  EXPECT_EQ(value_or_throw(name), kLibrary);
}

TEST(LoadFirst, where_none_does_all_are_named_and_what_they_lack) {
  const std::array<std::string, 2> names{kMissing, "libc.so.6"};
  const auto functions = load_first(names, functions_of);
  ASSERT_FALSE(functions);
  EXPECT_EQ(functions.error().kind, ErrorKind::machine_unavailable);
  EXPECT_EQ(functions.error().message, kMissing + ", libc.so.6; libc.so.6 lacks cos");
}

}  // namespace
}  // namespace overlaptune
