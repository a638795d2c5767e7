// A test that cannot fail; the listener fails it.

#include <gtest/gtest.h>

TEST(Empty, asserts_nothing) {}
