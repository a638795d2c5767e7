#pragma once
// Costs of a sequence-parallel group. Times are microseconds throughout `planning/sequences/`.

#include <cstdint>
#include <vector>

namespace overlaptune {

/// Larger numbers in files of costs are refused.
inline constexpr double kLargestNumber = 1e15;
/// Mixed-precision Adam: bf16 parameter and gradient, fp32 parameter and two moments (ZeRO,
/// Rajbhandari et al. 2020, section 3.1), divided among the GPUs (ZeRO-3).
inline constexpr double kStateBytesPerParameter = 16;

/// The costs of running sequences in groups. A group of degree d runs sequences of lengths s in
/// `fixed_us(d) + sum(compute_us(s)) / d + exchange_us_per_token(d) * sum(s)`. It keeps
/// `state_bytes() + token_bytes() * sum(s) / d` on each of its GPUs.
class Costs {
 public:
  Costs() = default;
  Costs(const Costs&) = default;
  Costs& operator=(const Costs&) = default;
  virtual ~Costs() = default;

  /// Forward and backward pass of one sequence on one GPU, without communication.
  [[nodiscard]] virtual double compute_us(std::int64_t length) const = 0;
  /// All-to-alls of all layers, forward and backward, for each token of the group; 0 for degree 1.
  [[nodiscard]] virtual double exchange_us_per_token(int degree) const = 0;
  /// The part of a micro-batch that does not depend on its sequences.
  [[nodiscard]] virtual double fixed_us(int degree) const = 0;
  [[nodiscard]] virtual double token_bytes() const = 0;
  [[nodiscard]] virtual double state_bytes() const = 0;
};

/// Costs by coefficients: compute is `quadratic_us` s^2 + `linear_us` s.
struct Coefficients final : Costs {
  /// A degree that groups may have.
  struct Degree {
    int degree = 1;
    double exchange_us_per_token = 0;
    double fixed_us = 0;
  };

  double quadratic_us = 0;
  double linear_us = 0;
  double bytes_of_token = 0;
  double bytes_of_state = 0;
  std::vector<Degree> degrees{};

  [[nodiscard]] double compute_us(std::int64_t length) const override {
    const auto s = static_cast<double>(length);
    return (quadratic_us * s + linear_us) * s;
  }
  [[nodiscard]] double exchange_us_per_token(int degree) const override {
    return of(degree).exchange_us_per_token;
  }
  [[nodiscard]] double fixed_us(int degree) const override { return of(degree).fixed_us; }
  [[nodiscard]] double token_bytes() const override { return bytes_of_token; }
  [[nodiscard]] double state_bytes() const override { return bytes_of_state; }

 private:
  [[nodiscard]] const Degree& of(int degree) const {
    for (const Degree& each : degrees) {
      if (each.degree == degree) return each;
    }
    return degrees.back();
  }
};

}  // namespace overlaptune
