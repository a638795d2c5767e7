// Loads the library for plans, with every function that it is linked to, and prints what it says of
// its NCCL. The argument is its file.

#include <cstdio>
#include <dlfcn.h>

int main(int count, char** arguments) {
  void* const library = dlopen(count > 1 ? arguments[1] : nullptr, RTLD_NOW | RTLD_LOCAL);
  void* const symbol = library == nullptr ? nullptr : dlsym(library, "ovt_run_nccl");
  if (symbol == nullptr) {
    std::puts(dlerror());
    return 1;
  }
  std::puts(reinterpret_cast<const char* (*)()>(symbol)());
  return 0;
}
