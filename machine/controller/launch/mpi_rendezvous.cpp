#include "machine/controller/launch/mpi_rendezvous.hpp"

#include <array>
#include <csignal>
#include <mpi.h>
#include <string_view>
#include <unistd.h>

#include "machine/controller/launch/agent.hpp"
#include "machine/controller/wire/secret.hpp"

namespace overlaptune::cuda {
namespace {

/// Ends the process after `kMeetLimit`: MPI would wait for ever for a rank that never comes.
class Watchdog {
 public:
  Watchdog() {
    std::signal(SIGALRM, [](int) { give_up(); });
    alarm(static_cast<unsigned>(kMeetLimit.count()));
  }
  ~Watchdog() {
    alarm(0);
    std::signal(SIGALRM, SIG_DFL);
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  /// Runs in a signal handler, where only a few functions are allowed.
  [[noreturn]] static void give_up() {
    constexpr std::string_view kWords =
        "overlaptune: machine cuda: not all ranks came to meet by MPI in time; look for their own "
        "messages\n";
    static_cast<void>(!write(STDERR_FILENO, kWords.data(), kWords.size()));
    _exit(static_cast<int>(ErrorKind::machine_unavailable));
  }
};

/// The message of rank 0 to all others, as bytes.
struct Invitation {
  std::array<char, 256> host{};
  std::array<char, kSecretDigits + 1> secret{};
  int port = 0;  ///< 0: it cannot listen
};

template <std::size_t N>
void put(const std::string& text, std::array<char, N>& into) {
  text.copy(into.data(), N - 1);
}

std::optional<Listener>& mpi_listener() {
  static std::optional<Listener> listener;
  return listener;
}

int rank_in(MPI_Comm ranks) {
  int rank = 0;
  MPI_Comm_rank(ranks, &rank);
  return rank;
}

int size_of(MPI_Comm ranks) {
  int size = 0;
  MPI_Comm_size(ranks, &size);
  return size;
}

void find_place(LaunchEnvironment& launch) {
  launch.rank = rank_in(MPI_COMM_WORLD);
  launch.size = size_of(MPI_COMM_WORLD);
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, launch.rank, MPI_INFO_NULL, &host);
  launch.local_rank = rank_in(host);
  launch.one_host = size_of(host) == launch.size;
  MPI_Comm_free(&host);
}

/// Makes rank 0 listen. The port is 0 if it cannot; `why` then has the reason.
Invitation invite(const LaunchEnvironment& launch, std::string& why) {
  Invitation invitation;
  put(launch.one_host ? "127.0.0.1" : host_name(), invitation.host);
  put(launch.secret, invitation.secret);
  auto listener = listen_for_ranks(launch);
  if (listener) {
    invitation.port = listener->port();
    mpi_listener().emplace(std::move(*listener));
  } else {
    why = listener.error().message;
  }
  return invitation;
}

Expected<std::optional<LaunchEnvironment>> meet(LaunchEnvironment launch) {
  const Watchdog watchdog;
  const int expected = launch.size;
  MPI_Init(nullptr, nullptr);
  find_place(launch);
  launch.host.clear();
  launch.port = 0;
  std::string why = "rank 0 cannot listen: see its own message";
  Invitation invitation;
  if (launch.rank == 0 && launch.size == expected) {
    launch.secret = new_secret();
    invitation = invite(launch, why);
  }
  MPI_Bcast(&invitation, sizeof invitation, MPI_BYTE, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  // A launcher of another MPI: each process believes that it is alone.
  if (launch.size != expected) return std::nullopt;
  if (invitation.port == 0) return unavailable(std::move(why));
  launch.host = invitation.host.data();
  launch.port = invitation.port;
  launch.secret = invitation.secret.data();
  launch.job.clear();
  return launch;
}

}  // namespace

Expected<std::optional<LaunchEnvironment>> meet_by_mpi(const LaunchEnvironment& launch) {
  if (launch.launcher != Launcher::mpirun && launch.launcher != Launcher::srun) {
    return std::nullopt;
  }
  static const auto met = meet(launch);
  return met;
}

std::optional<Listener> take_mpi_listener() {
  return std::exchange(mpi_listener(), std::nullopt);
}

}  // namespace overlaptune::cuda
