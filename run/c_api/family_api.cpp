// The C interface of recipes and families of plans.

#include <optional>

#include "core/abi/values.hpp"
#include "run/c_api/c_arguments.hpp"
#include "run/c_api/calls.hpp"
#include "run/family.hpp"

using namespace overlaptune;
using c::present;
using run::Call;
using run::guarded;
using run::OnDevice;
using run::Ranks;

struct ovt_family {
  std::shared_ptr<Ranks> ranks;
  std::unique_ptr<run::Family> family;
};

namespace {

Recipe recipe_of(const char* text) {
  return value_or_throw(parse_recipe(present(text, "recipe")));
}

/// Refuses a family that these ranks cannot run, at the rows at which it is tried.
void check_fits(const Recipe& recipe, std::int64_t most_rows, const run::Engine& engine) {
  for (const std::int64_t rows : trial_rows(recipe, most_rows)) {
    run::check_fits(value_or_throw(run::work_for(recipe, rows)), engine);
  }
  const run::FamilySizes sizes = value_or_throw(run::family_sizes(recipe, most_rows));
  run::check_capacity(sizes.shared_bytes, engine.world);
}

}  // namespace

ovt_status ovt_recipe_of(const ovt_problem* problem, const char* config, std::int64_t most_rows,
                         char* text, std::size_t capacity, std::size_t* length) {
  return guarded([&] {
    if (capacity > 0) (void)present(text, "text");
    if (length != nullptr) (void)present(length, "length");
    const Work work = run::work_of(problem, config);
    RecipeRange range = scalable(work.problem(), work.config());
    range.from = 1;
    range.to = most_rows;
    // Waves of one SM: groups may end after any column.
    const auto recipe = validated(
        Recipe{.weight = weight_of(work.problem()), .sms = 1, .ranges = {std::move(range)}});
    const std::string all = to_string(value_or_throw(recipe));
    if (length != nullptr) *length = all.size();
    if (capacity > 0) run::write(all, text, capacity, all.size() + 1);
  });
}

ovt_status ovt_recipe_config(const char* recipe, std::int64_t rows, char* config,
                             std::size_t capacity) {
  return guarded([&] {
    (void)present(config, "config");
    const std::string line = to_string(value_or_throw(config_for(recipe_of(recipe), rows)));
    run::write(line, config, capacity, OVT_CONFIG_SIZE);
  });
}

ovt_status ovt_recipe_sizes(const char* recipe, std::int64_t most_rows, ovt_sizes* sizes) {
  return guarded([&] {
    const std::size_t size = c::size_of(sizes, "ovt_sizes");
    const auto takes = value_or_throw(run::family_sizes(recipe_of(recipe), most_rows));
    run::write(takes.most, takes.shared_bytes, takes.temporary_bytes, size, sizes);
  });
}

ovt_status ovt_family_create(ovt_world* world, const char* recipe, std::int64_t most_rows,
                             ovt_family** family) {
  return guarded([&] {
    const std::shared_ptr<Ranks> ranks = present(world, "world")->ranks;
    const Call call(*ranks);
    run::wait_for_plans(*ranks);
    std::optional<Recipe> asked;
    try {
      (void)present(family, "family");
      asked = recipe_of(recipe);
      check_fits(*asked, most_rows, ranks->engine());
    } catch (...) {
      (void)ranks->world.told_by_all(run::kRefused);  // the others need not wait
      throw;
    }
    run::agree(ranks->world, fmt::format("{}\n{}", to_string(*asked), most_rows),
               "recipe or number of rows");
    auto made = run::Family::make(ranks->engine(), std::move(*asked), most_rows);
    *family = new ovt_family{ranks, value_or_throw(std::move(made))};
  });
}

ovt_status ovt_family_run(ovt_family* family, std::int64_t rows, const void* a, const void* b,
                          void* c, cudaStream_t stream) {
  return ovt_family_run_scaled(family, rows, a, nullptr, b, nullptr, c, stream);
}

ovt_status ovt_family_run_scaled(ovt_family* family, std::int64_t rows, const void* a,
                                 const float* a_scales, const void* b, const float* b_scales,
                                 void* c, cudaStream_t stream) {
  return guarded([&] {
    (void)present(family, "family");
    const Call call(*family->ranks);
    run::run_plan(*family->ranks, family->family->plan(rows), stream,
                  {.a = a, .b = b, .c = c, .scales = {a_scales, b_scales}});
  });
}

ovt_status ovt_family_buffers(ovt_family* family, std::int64_t rows, ovt_buffers* buffers) {
  return guarded([&] {
    const std::size_t size = c::size_of(buffers, "ovt_buffers");
    (void)present(family, "family");
    const Call call(*family->ranks);
    run::write(family->family->plan(rows), size, buffers);
  });
}

void ovt_family_destroy(ovt_family* family) {
  if (family == nullptr) return;
  (void)guarded([&] {
    if (family->ranks->is_held_after_its_end()) return;
    const OnDevice current(family->ranks->device);
    delete family;
  });
}
