#include "kernels/compile/device_headers.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/kernels/sources.hpp"

namespace overlaptune::kernels {
namespace {

std::string content_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(DeviceHeaders, are_the_files_by_the_names_that_others_include) {
  ASSERT_FALSE(device_headers().empty());
  for (const DeviceHeader& header : device_headers()) {
    const std::string text = content_of(OVERLAPTUNE_SOURCE_DIR "/" + std::string(header.name));
    EXPECT_FALSE(text.empty()) << header.name;
    EXPECT_EQ(header.text, text) << header.name;
  }
}

/// NVRTC has no other headers.
TEST(DeviceHeaders, include_nothing_but_each_other) {
  std::set<std::string> names;
  for (const DeviceHeader& header : device_headers()) names.insert(std::string(header.name));
  int includes = 0;
  for (const DeviceHeader& header : device_headers()) {
    std::istringstream lines{std::string(header.text)};
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("#include")) continue;
      ++includes;
      EXPECT_EQ(names.count(line.substr(10, line.size() - 11)), 1U) << header.name << ": " << line;
    }
  }
  EXPECT_GT(includes, 10);
}

using DeviceHeadersWithNvrtc = WithNvrtc;

TEST_F(DeviceHeadersWithNvrtc, each_compiles_alone) {
  for (const DeviceHeader& header : device_headers()) {
    KernelSource source = small_kernel();
    source.text = "#include \"" + std::string(header.name) + "\"\n" + source.text;
    const auto cubin = compiler->compile(source, "sm_90a");
    EXPECT_TRUE(cubin) << header.name << ": " << cubin.error().message;
  }
}

TEST(DeviceHeaders, inline_ptx_stands_in_one_folder) {
  for (const DeviceHeader& header : device_headers()) {
    const bool has_ptx = header.text.find("asm") != std::string_view::npos;
    EXPECT_EQ(has_ptx, header.name.find("/ptx/") != std::string_view::npos) << header.name;
  }
}

TEST(DeviceHeaders, the_digest_is_of_every_name_and_text) {
  std::vector<DeviceHeader> headers = device_headers();
  const std::string digest = digest_of(headers);
  EXPECT_EQ(digest.size(), 64U);
  for (DeviceHeader& header : headers) {
    const DeviceHeader before = header;
    const std::string longer = std::string(before.text) + " ";
    header.text = longer;
    EXPECT_NE(digest_of(headers), digest) << before.name;
    header = {.name = "another", .text = before.text};
    EXPECT_NE(digest_of(headers), digest) << before.name;
    header = before;
  }
  // FIPS 180-4 of no text.
  EXPECT_EQ(digest_of({}), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

}  // namespace
}  // namespace overlaptune::kernels
