// The code for GPUs in the built library: an image for each kind of GPU, and PTX for later ones.

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/abi/command.hpp"

namespace overlaptune {
namespace {

const std::set<int> kImages{80, 89, 90, 100, 120};
const std::set<int> kPtx{90};

/// The architectures in the lines of a command: 90 in `...sm_90.cubin`.
std::set<int> architectures(const std::string& command) {
  const std::string text = output_of(command);
  const std::regex name("sm_([0-9]+)");
  std::set<int> found;
  for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at) {
    found.insert(std::stoi((*at)[1]));
  }
  return found;
}

TEST(ImagesTest, CuobjdumpListsOneForEachKindOfGpu) {
  const std::string cuobjdump = CUOBJDUMP;
  if (cuobjdump.empty()) GTEST_SKIP() << "no cuobjdump: install cuda-cuobjdump";
  EXPECT_EQ(architectures(cuobjdump + " --list-elf " RUN_SHARED), kImages);
  EXPECT_EQ(architectures(cuobjdump + " --list-ptx " RUN_SHARED), kPtx);
}

template <class Number>
Number number_at(const std::string& bytes, std::size_t at) {
  Number number{};
  if (at + sizeof number <= bytes.size()) std::memcpy(&number, &bytes[at], sizeof number);
  return number;
}

/// The entries of all fat binaries in a file, as nvcc lays them out: by kind (1: PTX, 2: an image),
/// how many there are of each architecture.
std::map<int, std::map<int, int>> entries_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  // The magic, version 1, and a header of 16 bytes.
  const std::string begin("\x50\xed\x55\xba\x01\x00\x10\x00", 8);
  std::map<int, std::map<int, int>> entries;
  for (std::size_t at = bytes.find(begin); at != bytes.npos; at = bytes.find(begin, at + 1)) {
    const std::size_t end = at + 16 + number_at<std::uint64_t>(bytes, at + 8);
    for (std::size_t entry = at + 16; entry < end && entry < bytes.size();) {
      const auto kind = number_at<std::uint16_t>(bytes, entry);
      ++entries[kind][number_at<int>(bytes, entry + 28)];
      entry +=
          number_at<std::uint32_t>(bytes, entry + 4) + number_at<std::uint64_t>(bytes, entry + 8);
    }
  }
  return entries;
}

TEST(ImagesTest, EachSourceHasAllOfThem) {
  const auto entries = entries_of(RUN_SHARED);
  std::set<int> images;
  std::set<int> counts;
  for (const auto& [architecture, count] : entries.at(2)) {
    images.insert(architecture);
    counts.insert(count);
  }
  EXPECT_EQ(images, kImages);
  ASSERT_EQ(entries.at(1).size(), 1U);
  EXPECT_EQ(entries.at(1).begin()->first, 90);
  counts.insert(entries.at(1).begin()->second);
  EXPECT_EQ(counts.size(), 1U) << "a source lacks an image that another one has";
}

}  // namespace
}  // namespace overlaptune
