#include "run/streams/plan_range.hpp"

#include <nvtx3/nvToolsExt.h>

namespace overlaptune::run {
namespace {

nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t made = nvtxDomainCreateA("overlaptune");
  return made;
}

}  // namespace

PlanName::PlanName(const std::string& name)
    : name_(nvtxDomainRegisterStringA(domain(), name.c_str())) {}

PlanName::Range::Range(const PlanName& name) {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = name.name_;
  static_cast<void>(nvtxDomainRangePushEx(domain(), &event));
}

PlanName::Range::~Range() {
  static_cast<void>(nvtxDomainRangePop(domain()));
}

}  // namespace overlaptune::run
