#include "planning/sequences/picture.hpp"

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

TEST(Picture, has_a_bar_for_each_group) {
  const BatchPlan plan{
      .time_us = 10'000,
      .micro_batches = {{.time_us = 6000,
                         .groups = {{.degree = 2, .first_gpu = 0, .time_us = 6000},
                                    {.first_gpu = 2, .time_us = 3000}}},
                        {.time_us = 4000, .groups = {{.degree = 4, .time_us = 4000}}}}};
  // Columns 0 to 5 are the first micro-batch, 6 to 9 the second; GPU 3 idles in the first.
  EXPECT_EQ(picture(plan, {.count = 4, .per_node = 4}, {.columns = 10}),
            "GPU   0 to 10.0 ms; a: degree 1, b: 2, c: 4, d: 8, ...; | ends a micro-batch\n"
            "    0 bbbbb|ccc|\n"
            "    1 bbbbb|ccc|\n"
            "    2 aaa..|ccc|\n"
            "    3 .....|ccc|\n");
}

TEST(Picture, a_column_is_a_microsecond_where_a_batch_has_as_many) {
  const BatchPlan plan{.time_us = 10,
                       .micro_batches = {{.time_us = 6, .groups = {{.degree = 1, .time_us = 4}}},
                                         {.time_us = 4, .groups = {{.degree = 1, .time_us = 2}}}}};
  EXPECT_EQ(picture(plan, {.count = 1, .per_node = 1}, {.columns = 10}),
            "GPU   0 to 0.0 ms; a: degree 1, b: 2, c: 4, d: 8, ...; | ends a micro-batch\n"
            "    0 aaaa.|aa.|\n");
}

}  // namespace
}  // namespace overlaptune
