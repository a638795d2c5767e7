// Mutations that know JSON: half of the inputs have values, fields and elements changed, and stay
// JSON. libFuzzer's own mutations make the other half.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace overlaptune::fuzz {
namespace {

using Json = nlohmann::ordered_json;
using Random = std::minstd_rand;

/// Every place in the document.
void collect(Json& node, std::vector<Json*>& places) {
  places.push_back(&node);
  if (!node.is_structured()) return;
  for (Json& child : node) collect(child, places);
}

/// The text with a letter changed, or a word of it gone: configs are lines of words.
std::string odd_text(std::string text, Random& random) {
  if (text.empty()) return " ";
  const std::size_t at = random() % text.size();
  if (random() % 2 == 0) {
    constexpr std::string_view kLetters = "0123456789,x= ar";
    text[at] = kLetters[random() % kLetters.size()];
  } else {
    const std::size_t end = text.find(' ', at);
    text.erase(at, end == std::string::npos ? end : end - at);
  }
  return text;
}

Json odd_value(const Json& present, Random& random) {
  static const Json kOdd = Json::parse(R"([null, true, 0, 1, -1, 7, 4096, 2147483647, 2147483648,
      9223372036854775807, -9223372036854775808, 18446744073709551615, 0.0, -0.0, 0.5, 1e300,
      5e-324, "", "x", "a\u0000b", "\ud83d\ude00", "signaled", "timeout", "copy", [1, 2, 3], [],
      {}, "sequential ctas=0 transport=ring", "chunked ctas=8 transport=symmetric chunks=4",
      "signaled tile=128x256x64 stages=4 cluster=2 swizzle=8 ctas=16 transport=ring groups=9,7"])");
  if (present.is_number_integer() && random() % 2 == 0) {
    return present.get<std::uint64_t>() + 2 * (random() % 2) - 1;
  }
  if (present.is_string() && random() % 2 == 0) return odd_text(present, random);
  return kOdd[random() % kOdd.size()];
}

void change(Json& document, Random& random) {
  std::vector<Json*> places;
  collect(document, places);
  Json& place = *places[random() % places.size()];
  const bool has_children = place.is_structured() && !place.empty();
  switch (random() % 6) {
    case 0:  // a field or an element less
      if (has_children) {
        place.erase(std::next(place.begin(), static_cast<int>(random() % place.size())));
      }
      break;
    case 1:  // an element twice
      if (has_children && place.is_array()) {
        const Json copy = place[random() % place.size()];
        place.push_back(copy);
      }
      break;
    case 2:  // a value from another place
      place = Json(*places[random() % places.size()]);
      break;
    default:
      if (!place.is_structured() || random() % 8 == 0) place = odd_value(place, random);
  }
}

}  // namespace
}  // namespace overlaptune::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  using namespace overlaptune::fuzz;
  Random random(seed);
  if (random() % 2 == 0) {
    Json document = Json::parse(data, data + size, nullptr, false);
    if (!document.is_discarded()) {
      for (auto left = 1 + random() % 3; left > 0; --left) change(document, random);
      const std::string text = document.dump(-1, ' ', false, Json::error_handler_t::ignore);
      if (text.size() <= most) {
        std::copy(text.begin(), text.end(), data);
        return text.size();
      }
    }
  }
  return LLVMFuzzerMutate(data, size, most);
}
