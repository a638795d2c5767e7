// Replaces cupti.cpp if CUPTI's headers were missing or too old when this was built.

#include "machine/worker/cupti.hpp"

namespace overlaptune::cuda {

struct Cupti::Calls {};

std::vector<std::string> cupti_libraries() {
  return {};
}

Expected<Cupti> Cupti::load(const std::vector<std::string>& /*libraries*/) {
  return unavailable(
      "CUPTI: this program was built without it: build it where the CUDA toolkit 13 is installed");
}

Cupti::~Cupti() = default;
Cupti::Cupti(Cupti&&) noexcept = default;
Cupti& Cupti::operator=(Cupti&&) noexcept = default;

// The rest is never called, because `load` always fails.
void Cupti::register_callbacks(RequestBuffer /*request*/, CompleteBuffer /*complete*/) const {}
void Cupti::enable() const {}
void Cupti::disable() const {}
void Cupti::flush() const {}
std::size_t Cupti::take_dropped() const {
  return 0;
}
bool Cupti::read(std::uint8_t* /*buffer*/, std::size_t /*valid*/,
                 std::vector<GpuRecord>& /*records*/) const {
  return false;
}

}  // namespace overlaptune::cuda
