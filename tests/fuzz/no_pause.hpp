#pragma once
// A file that looks damaged is looked at again after a pause, in which another process may finish
// with it. Here the pause is left out: the C library's function is replaced.

#include <ctime>

extern "C" int nanosleep(const timespec* /*duration*/, timespec* /*rest*/) {
  return 0;
}
