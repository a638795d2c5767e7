#include "core/base/dynamic_library.hpp"

#include <cstring>
#include <dlfcn.h>
#include <link.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace overlaptune {

Expected<DynamicLibrary> DynamicLibrary::open(const std::string& name) {
  void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const why = dlerror();
    return unavailable(why == nullptr ? name + ": cannot be opened" : why);
  }
  return DynamicLibrary(handle, name);
}

Expected<void> DynamicLibrary::find(std::initializer_list<Symbol> symbols) const {
  for (const Symbol& symbol : symbols) {
    void* const address = dlsym(handle_, symbol.name_);
    if (address == nullptr) return unavailable(fmt::format("{} lacks {}", name_, symbol.name_));
    std::memcpy(symbol.function_, &address, sizeof address);
  }
  return {};
}

std::string DynamicLibrary::path() const {
  const link_map* loaded = nullptr;
  if (dlinfo(handle_, RTLD_DI_LINKMAP, &loaded) != 0) return name_;
  return loaded->l_name;
}

Error none_of(std::span<const std::string> names, const std::string& unfit) {
  return {ErrorKind::machine_unavailable, fmt::format("{}{}", fmt::join(names, ", "), unfit)};
}

}  // namespace overlaptune
