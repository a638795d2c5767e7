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
      : limit_(limit), ranks_(participants.begin(), participants.end()) {}

  tl::expected<std::vector<Reply>, Loss> run(const Command& command) {
    send(to_line(command));
    while (true) {
      for (Rank& rank : ranks_) listen(rank);
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
  struct Rank : Participant {
    explicit Rank(const Participant& participant) : Participant(participant) {}
    std::optional<Reply> reply{};
    std::optional<Loss> loss{};
    std::optional<RunStep> step{};
    Deadline until{};
    std::chrono::milliseconds patience{};
    [[nodiscard]] bool waits() const { return !reply && !loss; }
    [[nodiscard]] bool has_died() const {
      return loss->how == Loss::How::killed || loss->how == Loss::How::died;
    }
  };

  void send(const std::string& line) {
    for (Rank& rank : ranks_) {
      const auto sent = rank.connection->send(line, Clock::now() + kSendLimit);
      if (!sent) lose_ended(rank, sent.error().message);
    }
    for (Rank& rank : ranks_) give_time(rank, nullptr);
  }

  void give_time(Rank& rank, const RunStep* step) {
    rank.patience = limit_(step);
    rank.until = Clock::now() + rank.patience;
  }

  [[nodiscard]] bool none_waits() const { return std::ranges::none_of(ranks_, &Rank::waits); }

  void lose(Rank& rank, Loss::How how, const std::string& what) {
    rank.loss =
        Loss{.how = how,
             .rank = rank.rank,
             .reason = fmt::format("rank {} on {}: {}", rank.rank, rank.slot->host(), what)};
    if (!first_loss_) first_loss_ = Clock::now();
    lost_.push_back(&rank);
  }

  /// Reads all that the rank has sent so far.
  void listen(Rank& rank) {
    // This also reads the worker's standard error, so that the worker never waits for us to do so.
    static_cast<void>(rank.slot->ended());
    while (rank.waits()) {
      const Received received = rank.connection->receive(Clock::now());
      if (received.what == Received::What::nothing) break;
      if (received.what == Received::What::closed) {
        lose_ended(rank, received.text);
      } else {
        take(rank, received.text);
      }
    }
    if (const auto lost = rank.slot->lost(); lost && rank.waits()) {
      lose(rank, Loss::How::killed, *lost);
    }
  }

  void take(Rank& rank, const std::string& line) {
    auto reply = parse_reply(line);
    if (!reply) {
      lose(rank, Loss::How::failed, "it sent what cannot be read: " + reply.error().message);
    } else if (auto* step = std::get_if<RunStep>(&*reply)) {
      give_time(rank, step);
      rank.step = std::move(*step);
    } else if (auto* failed = std::get_if<Failed>(&*reply)) {
      lose(rank, Loss::How::failed, failed->message);
    } else {
      rank.reply = std::move(*reply);
    }
  }

  /// Its connection ended; finds out how its process did.
  void lose_ended(Rank& rank, const std::string& why) {
    if (!ended_by_) ended_by_ = Clock::now() + kEndLimit;
    auto ended = rank.slot->ended();
    for (; !ended && Clock::now() < *ended_by_; ended = rank.slot->ended()) poll(nullptr, 0, 5);
    if (!ended) return lose(rank, Loss::How::died, why);
    lose(rank, ended->killed ? Loss::How::killed : Loss::How::died, in_words(*ended));
  }

  void check_deadlines(Deadline now) {
    Rank* worst = nullptr;
    for (Rank& rank : ranks_) {
      const bool late = rank.waits() && rank.until <= now;
      if (late && (worst == nullptr || rank.until < worst->until)) worst = &rank;
    }
    if (worst == nullptr) return;
    lose(*worst, Loss::How::hung,
         fmt::format("no word for {:.3g} s{}",
                     std::chrono::duration<double>(worst->patience).count(),
                     worst->step ? " after step '" + worst->step->step + "'" : ""));
  }

  void wait() const {
    Deadline until = Clock::now() + kLook;
    if (first_loss_) until = std::min(until, *first_loss_ + kAftermath);
    std::vector<pollfd> entries;
    for (const Rank& rank : ranks_) {
      if (!rank.waits()) continue;
      entries.push_back({.fd = rank.connection->descriptor(), .events = POLLIN, .revents = 0});
      if (!first_loss_) until = std::min(until, rank.until);
    }
    poll(entries.data(), entries.size(), milliseconds_until(until));
  }

  /// The first that died; the end where none did. A process that died did not do so because of the
  /// others, so the cause is clear then.
  [[nodiscard]] std::vector<Rank*>::const_iterator first_dead() const {
    return std::ranges::find_if(lost_, &Rank::has_died);
  }
  [[nodiscard]] bool is_clear() const { return first_dead() != lost_.end(); }

  Loss verdict() {
    Loss loss = *(is_clear() ? *first_dead() : lost_.front())->loss;
    for (const Rank& rank : ranks_) loss.steps.push_back(rank.step);
    return loss;
  }

  std::vector<Reply> answers() {
    std::vector<Reply> replies;
    replies.reserve(ranks_.size());
    for (Rank& rank : ranks_) replies.push_back(std::move(*rank.reply));
    return replies;
  }

  const StepLimit& limit_;
  std::vector<Rank> ranks_;
  std::vector<Rank*> lost_{};  ///< in the order in which they were lost
  std::optional<Deadline> first_loss_{};
  std::optional<Deadline> ended_by_{};  ///< for all whose connection ended
};

}  // namespace

tl::expected<std::vector<Reply>, Loss> ask_round(const std::vector<Participant>& participants,
                                                 const Command& command, const StepLimit& limit) {
  return Round(participants, limit).run(command);
}

}  // namespace overlaptune::cuda
