#pragma once
// Shared libraries that are opened at run time. A program starts without them and can say which one
// it lacks.

#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "core/base/error.hpp"

namespace overlaptune {

/// A function to look up: the name of its symbol and the pointer that is set to it. The caller must
/// give the pointer the right type.
class Symbol {
 public:
  template <class Function>
  Symbol(const char* name, Function*& function) : name_(name), function_(&function) {
    static_assert(std::is_function_v<Function>);
  }

 private:
  friend class DynamicLibrary;
  const char* name_;
  void* function_;
};

/// A shared library that was opened. It stays loaded until the process ends, because it may have
/// threads of its own.
class DynamicLibrary {
 public:
  /// `name` is a path, or the name of a file that the dynamic linker looks for. The symbols are
  /// local: other libraries do not see them. Error (`machine_unavailable`): the linker's message,
  /// which names the library.
  [[nodiscard]] static Expected<DynamicLibrary> open(const std::string& name);

  /// Points every function to its symbol. Error (`machine_unavailable`): "LIBRARY lacks SYMBOL",
  /// for the first that is missing; the functions before it are set.
  [[nodiscard]] Expected<void> find(std::initializer_list<Symbol> symbols) const;

  /// The name that it was opened by.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// The file that it was loaded from.
  [[nodiscard]] std::string path() const;

 private:
  DynamicLibrary(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}

  void* handle_;
  std::string name_;
};

/// The error of `load_first`; `unfit` says why `load` refused the libraries that could be opened.
[[nodiscard]] Error none_of(std::span<const std::string> names, const std::string& unfit);

/// The result of `load`, an `Expected`, for the first of `names` that can be opened and that `load`
/// accepts. Error (`machine_unavailable`): all names, and the errors of `load`, as in
/// "libx.so.2, libx.so.1; libx.so.1 lacks f".
template <class Load>
[[nodiscard]] std::invoke_result_t<Load&, const DynamicLibrary&> load_first(
    std::span<const std::string> names, Load&& load) {
  std::string unfit;
  for (const std::string& name : names) {
    const auto library = DynamicLibrary::open(name);
    if (!library) continue;
    auto loaded = load(*library);
    if (loaded) return loaded;
    unfit += "; " + loaded.error().message;
  }
  return tl::make_unexpected(none_of(names, unfit));
}

}  // namespace overlaptune
