#include "machine/controller/launch/worker_slot.hpp"

#include <csignal>

#include <fmt/format.h>

#include "core/base/environment.hpp"
#include "machine/controller/wire/address.hpp"
#include "machine/controller/wire/secret.hpp"

namespace overlaptune::cuda {

std::string worker_secret(const std::string& secret, const std::string& start) {
  return hmac(secret, {"worker ", start});
}

Expected<Process> start_worker(const WorkerCall& call, const std::string& start) {
  auto environment = call.environment;
  environment.emplace_back(kTokenVariable, worker_secret(call.secret, start));
  return Process::start(
      {.program = call.program,
       .arguments = {"--connect", host_and_port(call.host, call.port), "--rank",
                     std::to_string(call.rank), "--local-rank", std::to_string(call.local_rank)},
       .environment = std::move(environment)});
}

tl::unexpected<Error> still_runs(int pid) {
  return unavailable(fmt::format("its earlier worker, process {}, still runs", pid));
}

std::string in_words(const Ended& ended) {
  return ended.last_words.empty() ? ended.how : fmt::format("{}: {}", ended.how, ended.last_words);
}

Ended ended_of(const Ending& ending, const Process& process) {
  return {.how = to_string(ending),
          .killed = ending.signal == SIGKILL,
          .last_words = last_lines(process.last_words())};
}

LocalSlot::LocalSlot(WorkerCall call) : call_(std::move(call)), host_(host_name()) {}

Expected<void> LocalSlot::start(const std::string& name) {
  if (const auto pid = running()) return still_runs(*pid);
  process_.reset();
  auto process = start_worker(call_, name);
  if (!process) return error_of(process);
  process_.emplace(std::move(*process));
  return {};
}

std::optional<Ended> LocalSlot::ended() {
  if (!process_) return std::nullopt;
  const auto ending = process_->ending();
  // Drained after the look at its end, so that no output is missed.
  process_->drain(fmt::format("rank {}", call_.rank));
  if (!ending) return std::nullopt;
  return ended_of(*ending, *process_);
}

void LocalSlot::kill() {
  if (process_) process_->kill();
}

std::optional<int> LocalSlot::running() {
  if (!process_ || process_->ending()) return std::nullopt;
  return process_->pid();
}

}  // namespace overlaptune::cuda
