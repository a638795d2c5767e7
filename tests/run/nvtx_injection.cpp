// A tool for NVTX, as Nsight Systems is one: it writes the ranges of the process to the file
// $RANGES_FILE, a line for each begin and end.

#include <cstdio>
#include <cstdlib>
#include <nvtx3/nvToolsExt.h>
#include <string>

namespace {

void say(const std::string& line) {
  std::FILE* const file = std::fopen(std::getenv("RANGES_FILE"), "a");
  if (file == nullptr) return;
  std::fputs((line + "\n").c_str(), file);
  std::fclose(file);
}

/// Handles are the texts themselves.
nvtxDomainHandle_t create_domain(const char* name) {
  return reinterpret_cast<nvtxDomainHandle_t>(new std::string(name));
}

nvtxStringHandle_t register_string(nvtxDomainHandle_t, const char* text) {
  return reinterpret_cast<nvtxStringHandle_t>(new std::string(text));
}

int push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  say("begin " + *reinterpret_cast<std::string*>(domain) + ": " +
      *reinterpret_cast<std::string*>(event->message.registered));
  return 0;
}

int pop(nvtxDomainHandle_t domain) {
  say("end " + *reinterpret_cast<std::string*>(domain));
  return 0;
}

}  // namespace

/// NVTX calls this in the library that NVTX_INJECTION64_PATH names.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t export_table) {
  const auto* const callbacks =
      static_cast<const NvtxExportTableCallbacks*>(export_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) return 0;
  const auto set = [&](int id, auto* function) {
    *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
  };
  set(NVTX_CBID_CORE2_DomainCreateA, create_domain);
  set(NVTX_CBID_CORE2_DomainRegisterStringA, register_string);
  set(NVTX_CBID_CORE2_DomainRangePushEx, push);
  set(NVTX_CBID_CORE2_DomainRangePop, pop);
  return 1;
}
