#include "core/base/text_file.hpp"

#include <filesystem>
#include <fstream>
#include <string_view>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/descriptor.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

using std::literals::operator""sv;
using ::testing::HasSubstr;

/// Reads what a pipe holds by its name under /proc, as of `<(...)` in a shell.
Expected<std::string> read_pipe(std::string_view content, std::size_t most_bytes) {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::pipe(ends), 0);
  const Descriptor out(ends[0]);
  Descriptor in(ends[1]);
  EXPECT_EQ(::write(in.get(), content.data(), content.size()),
            static_cast<ssize_t>(content.size()));
  in.close();
  return read_text_file("/proc/self/fd/" + std::to_string(out.get()), most_bytes);
}

Expected<std::string> read_file(std::string_view content) {
  const TemporaryFolder folder;
  const auto file = folder / "text.txt";
  std::ofstream(file, std::ios::binary) << content;
  return read_text_file(file);
}

std::string refused(std::string_view content) {
  const auto text = read_file(content);
  return text ? "" : text.error().message;
}

TEST(TextFile, what_is_no_small_file_is_an_error) {
  const TemporaryFolder folder;
  const auto write = [&](const char* name, std::size_t bytes) {
    auto file = folder / name;
    std::ofstream(file) << std::string(bytes, 'x');
    return file;
  };
  const auto error = [](const std::filesystem::path& file) {
    const auto text = read_text_file(file, 100);
    return text ? "" : text.error().message;
  };
  EXPECT_THAT(error(folder / "missing"), HasSubstr("no such file"));
  EXPECT_THAT(error(folder.path()), HasSubstr("not a regular file"));
  EXPECT_THAT(error("/dev/zero"), HasSubstr("not a regular file"));
  EXPECT_THAT(error(write("empty.txt", 0)), HasSubstr("empty"));
  EXPECT_THAT(error(write("huge.txt", 101)), HasSubstr("larger than 100 bytes"));
  EXPECT_THAT(error(folder / "empty.txt" / "x"), HasSubstr("no such file"));
  EXPECT_EQ(read_text_file(write("just_right.txt", 100), 100)->size(), 100U);
}

TEST(TextFile, a_pipe_is_read_up_to_the_limit) {
  EXPECT_EQ(read_pipe("some text", 9).value_or(""), "some text");
  const auto larger = read_pipe("some text", 8);
  ASSERT_FALSE(larger);
  EXPECT_THAT(larger.error().message, HasSubstr("larger than 8 bytes"));
  const auto empty = read_pipe("", 8);
  ASSERT_FALSE(empty);
  EXPECT_THAT(empty.error().message, HasSubstr("empty"));
}

TEST(TextFile, a_byte_order_mark_is_no_text) {
  EXPECT_EQ(read_file("\xef\xbb\xbfop").value_or(""), "op");
  EXPECT_THAT(refused("\xef\xbb\xbf"), HasSubstr("empty"));
}

TEST(TextFile, what_is_not_utf8_is_named) {
  for (const auto text : {"\xff\xfe"
                          "1\0\n\0"sv,
                          "\xfe\xff\0"
                          "1\0\n"sv,
                          "1\0"
                          "2\0\n\0"sv,
                          "\0"
                          "1\0\n"sv}) {
    EXPECT_THAT(refused(text), HasSubstr("UTF-16: expected UTF-8: save it as UTF-8"));
  }
  EXPECT_THAT(refused("\xff\xfe\0\0"
                      "1\0\0\0"sv),
              HasSubstr("UTF-32"));
  EXPECT_THAT(refused("12\n3\0"
                      "4\n"sv),
              HasSubstr("line 2: a byte of 0 (\\x00)"));
  EXPECT_THAT(refused("\x1f\x8b\x08\0"sv), HasSubstr("gzip: expected text: give `-`"));
}

TEST(TextFile, a_pipe_is_called_what_it_is) {
  EXPECT_EQ(called("-"), "standard input");
  EXPECT_EQ(called("/dev/stdin"), "standard input");
  EXPECT_EQ(called("/dev/fd/63"), "the pipe");
  EXPECT_EQ(called("models/a.json"), "models/a.json");
}

}  // namespace
}  // namespace overlaptune
