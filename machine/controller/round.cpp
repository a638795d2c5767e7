#include "machine/controller/round.hpp"

#include <algorithm>
#include <poll.h>

#include <fmt/format.h>

namespace overlaptune::cuda {
namespace {

using namespace std::chrono_literals;

constexpr auto kSendLimit = 20s;
/// Time for the other ranks to report after the first failure.
constexpr auto kAftermath = 300ms;
/// Time for the system to report how processes ended; it takes their GPU memory back first.
constexpr auto kEndLimit = 15s;
/// Interval between looks at the processes: no event reports the end of one on an agent's host.
constexpr auto kLook = 200ms;

class Round {
 public:
  Round(const std::vector<Participant>& participants, const StepLimit& limit)
      : participants_(participants), limit_(limit), states_(participants.size()) {}

  tl::expected<std::vector<Reply>, Loss> run(const Command& command) {
    send(to_line(command));
    while (true) {
      for (std::size_t i = 0; i < states_.size(); ++i) listen(i);
      if (first_loss_) {
        if (is_clear() || none_waits() || Clock::now() >= *first_loss_ + kAftermath) {
          return tl::make_unexpected(verdict());
        }
      } else {
        if (none_waits()) return answers();
        check_deadlines(Clock::now());
      }
      wait();
    }
  }

 private:
  struct State {
    std::optional<Reply> reply{};
    std::optional<Loss> loss{};
    std::optional<RunStep> step{};
    Deadline until{};
    std::chrono::milliseconds patience{};
  };

  void send(const std::string& line) {
    for (std::size_t i = 0; i < states_.size(); ++i) {
      const auto sent = participants_[i].connection->send(line, Clock::now() + kSendLimit);
      if (!sent) lose_ended(i, sent.error().message);
    }
    for (std::size_t i = 0; i < states_.size(); ++i) give_time(i, nullptr);
  }

  void give_time(std::size_t i, const RunStep* step) {
    states_[i].patience = limit_(step);
    states_[i].until = Clock::now() + states_[i].patience;
  }

  [[nodiscard]] bool waits(std::size_t i) const { return !states_[i].reply && !states_[i].loss; }
  [[nodiscard]] bool none_waits() const {
    for (std::size_t i = 0; i < states_.size(); ++i) {
      if (waits(i)) return false;
    }
    return true;
  }

  void lose(std::size_t i, Loss::How how, const std::string& what) {
    states_[i].loss = Loss{.how = how,
                           .rank = participants_[i].rank,
                           .reason = fmt::format("rank {} on {}: {}", participants_[i].rank,
                                                 participants_[i].slot->host(), what)};
    if (!first_loss_) first_loss_ = Clock::now();
    order_.push_back(i);
  }

  /// Reads all that the rank has sent so far.
  void listen(std::size_t i) {
    // This also reads the worker's standard error, so that the worker never waits for us to do so.
    static_cast<void>(participants_[i].slot->ended());
    while (waits(i)) {
      const Received received = participants_[i].connection->receive(Clock::now());
      if (received.what == Received::What::nothing) break;
      if (received.what == Received::What::closed) {
        lose_ended(i, received.text);
      } else {
        take(i, received.text);
      }
    }
    if (const auto lost = participants_[i].slot->lost(); lost && waits(i)) {
      lose(i, Loss::How::killed, *lost);
    }
  }

  void take(std::size_t i, const std::string& line) {
    auto reply = parse_reply(line);
    if (!reply) {
      lose(i, Loss::How::failed, "it sent what cannot be read: " + reply.error().message);
    } else if (auto* step = std::get_if<RunStep>(&*reply)) {
      give_time(i, step);
      states_[i].step = std::move(*step);
    } else if (auto* failed = std::get_if<Failed>(&*reply)) {
      lose(i, Loss::How::failed, failed->message);
    } else {
      states_[i].reply = std::move(*reply);
    }
  }

  /// Its connection ended; finds out how its process did.
  void lose_ended(std::size_t i, const std::string& why) {
    WorkerSlot& slot = *participants_[i].slot;
    if (!ended_by_) ended_by_ = Clock::now() + kEndLimit;
    auto ended = slot.ended();
    for (; !ended && Clock::now() < *ended_by_; ended = slot.ended()) poll(nullptr, 0, 5);
    if (!ended) return lose(i, Loss::How::died, why);
    lose(i, ended->killed ? Loss::How::killed : Loss::How::died,
         ended->last_words.empty() ? ended->how
                                   : fmt::format("{}: {}", ended->how, ended->last_words));
  }

  void check_deadlines(Deadline now) {
    std::optional<std::size_t> worst;
    for (std::size_t i = 0; i < states_.size(); ++i) {
      const bool late = waits(i) && states_[i].until <= now;
      if (late && (!worst || states_[i].until < states_[*worst].until)) worst = i;
    }
    if (!worst) return;
    const State& state = states_[*worst];
    lose(
        *worst, Loss::How::hung,
        fmt::format("no word for {:.3g} s{}", std::chrono::duration<double>(state.patience).count(),
                    state.step ? " after step '" + state.step->step + "'" : ""));
  }

  void wait() const {
    Deadline until = Clock::now() + kLook;
    if (first_loss_) until = std::min(until, *first_loss_ + kAftermath);
    std::vector<pollfd> entries;
    for (std::size_t i = 0; i < states_.size(); ++i) {
      if (!waits(i)) continue;
      entries.push_back(
          {.fd = participants_[i].connection->descriptor(), .events = POLLIN, .revents = 0});
      if (!first_loss_) until = std::min(until, states_[i].until);
    }
    poll(entries.data(), entries.size(), milliseconds_until(until));
  }

  [[nodiscard]] bool has_died(std::size_t i) const {
    const Loss::How how = states_[i].loss->how;
    return how == Loss::How::killed || how == Loss::How::died;
  }

  /// Whether the cause is clear: a process that died did not do so because of the others.
  [[nodiscard]] bool is_clear() const {
    return std::any_of(order_.begin(), order_.end(), [this](std::size_t i) { return has_died(i); });
  }

  Loss verdict() {
    const auto died =
        std::find_if(order_.begin(), order_.end(), [this](std::size_t i) { return has_died(i); });
    const std::size_t cause = died == order_.end() ? order_.front() : *died;
    Loss loss = *states_[cause].loss;
    for (const State& state : states_) loss.steps.push_back(state.step);
    return loss;
  }

  std::vector<Reply> answers() {
    std::vector<Reply> replies;
    replies.reserve(states_.size());
    for (State& state : states_) replies.push_back(std::move(*state.reply));
    return replies;
  }

  const std::vector<Participant>& participants_;
  const StepLimit& limit_;
  std::vector<State> states_;
  std::vector<std::size_t> order_{};  ///< ranks in the order in which they were lost
  std::optional<Deadline> first_loss_{};
  std::optional<Deadline> ended_by_{};  ///< for all whose connection ended
};

}  // namespace

tl::expected<std::vector<Reply>, Loss> ask_round(const std::vector<Participant>& participants,
                                                 const Command& command, const StepLimit& limit) {
  return Round(participants, limit).run(command);
}

}  // namespace overlaptune::cuda
