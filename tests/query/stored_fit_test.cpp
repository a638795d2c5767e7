// Answers from stored constants of a fit are those of a fit that is made anew.

#include "query/stored_fit.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fitted.hpp"
#include "query/measured_platform.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Problem kFitted{Op::gemm_reduce_scatter, 4096, 8192, 2048, Elements::bf16, 8};

class StoredFitTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { fitted_ = new FittedMachine(fit_simulated("h200-nvlink-x8", 8)); }
  static void TearDownTestSuite() { delete fitted_; }

  StoredFitTest() {
    Store store(file_, Access::create);
    platform_ = store.add_platform(fitted_->machine->platform());
    const ProbeRunId run = store.begin_probe_run(platform_, {});
    for (const Measurement& each : fitted_->measurements) store.add_measurement(run, each);
    store.finish_probe_run(run);
  }

  [[nodiscard]] double predicted() const {
    return MeasuredPlatform::of_database(file_.string(), "")
        .answer(kFitted, Launch::graph)
        .predicted.value()
        .count();
  }
  /// The fit with one constant of the library's GEMMs doubled.
  static Fit doubled(Fit fit) {
    fit.constants.at("bf16 library").front() *= 2;
    return fit;
  }

  inline static FittedMachine* fitted_ = nullptr;
  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "a.db";
  PlatformId platform_ = 0;
};

TEST_F(StoredFitTest, a_stored_fit_changes_no_answer) {
  const double anew = predicted();
  {
    Store store(file_, Access::write);
    store_fits(store);
    const Fit fit = store.fit(platform_).value();
    EXPECT_EQ(fit.constants, fitted_->model.constants());
    EXPECT_GE(fit.constants.size(), 3U);
    EXPECT_THAT(fit_faults(store), IsEmpty());
  }
  EXPECT_EQ(predicted(), anew);
}

TEST_F(StoredFitTest, constants_of_the_same_measurements_are_used_and_a_check_finds_wrong_ones) {
  const double anew = predicted();
  Store store(file_, Access::write);
  store_fits(store);
  store.put_fit(platform_, doubled(store.fit(platform_).value()));
  EXPECT_NE(predicted(), anew);
  EXPECT_THAT(fit_faults(store), ElementsAre(HasSubstr("its constants are not those")));
}

TEST_F(StoredFitTest, constants_of_other_measurements_or_damaged_ones_change_no_answer) {
  Store store(file_, Access::write);
  store_fits(store);
  const Fit fit = store.fit(platform_).value();
  const double anew = predicted();
  Fit foreign = doubled(fit);
  ++foreign.fitted_to;
  store.put_fit(platform_, foreign);
  EXPECT_EQ(predicted(), anew);
  store.put_fit(platform_, fit);
  SQLite::Database database(file_.string(), SQLite::OPEN_READWRITE);
  ASSERT_EQ(database.exec("UPDATE fits SET constants = replace(constants, '1', '2')"), 1);
  EXPECT_EQ(predicted(), anew);
}

TEST_F(StoredFitTest, a_new_measurement_makes_the_stored_fit_void) {
  Store store(file_, Access::write);
  store_fits(store);
  const Fit before = store.fit(platform_).value();
  Measurement slower = fitted_->measurements.front();
  slower.time.median *= 1.5;
  slower.time.p90 *= 1.5;
  const ProbeRunId run = store.begin_probe_run(platform_, {});
  store.add_measurement(run, slower);
  store.finish_probe_run(run);
  EXPECT_NE(digest_of_fit(fitted_->machine->platform(), store.measurements(platform_)),
            before.fitted_to);
  store_fits(store);
  EXPECT_NE(store.fit(platform_)->fitted_to, before.fitted_to);
}

}  // namespace
}  // namespace overlaptune
