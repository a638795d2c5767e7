#include "run/waits/last_words.hpp"

#include <array>
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace overlaptune::run {
namespace {

/// A child process that makes a page, tells its handle, says what it is told to say, and waits.
class Speaker {
 public:
  explicit Speaker(std::string_view words) {
    std::array<int, 2> told{};
    EXPECT_EQ(pipe(told.data()), 0);
    child_ = fork();
    if (child_ == 0) {
      LastWords own = LastWords::of_this_rank();
      if (!words.empty()) own.say(words);
      if (!words.empty()) own.say("something else");
      const LastWords::Handle handle = own.handle();
      static_cast<void>(!write(told[1], &handle, sizeof handle));
      pause();
      _exit(0);
    }
    EXPECT_EQ(read(told[0], &handle_, sizeof handle_), static_cast<ssize_t>(sizeof handle_));
    process_ = this_process();
    process_.pid = child_;
    close(told[0]);
    close(told[1]);
  }
  ~Speaker() { end(); }
  Speaker(const Speaker&) = delete;
  Speaker& operator=(const Speaker&) = delete;

  [[nodiscard]] LastWords page() const { return LastWords::of(process_, handle_); }
  [[nodiscard]] const Process& process() const { return process_; }
  [[nodiscard]] const LastWords::Handle& handle() const { return handle_; }
  void end() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    child_ = 0;
  }

 private:
  pid_t child_ = 0;
  LastWords::Handle handle_{};
  Process process_{};
};

TEST(LastWordsTest, another_process_hears_the_first_words) {
  const Speaker speaker("a rank did not come");
  EXPECT_EQ(speaker.page().heard(), "a rank did not come");
}

TEST(LastWordsTest, nothing_is_heard_before_something_is_said) {
  const Speaker speaker("");
  EXPECT_EQ(speaker.page().heard(), std::nullopt);
}

TEST(LastWordsTest, words_outlive_the_process_that_said_them) {
  Speaker speaker("a rank did not come");
  const LastWords page = speaker.page();
  speaker.end();
  EXPECT_EQ(page.heard(), "a rank did not come");
}

TEST(LastWordsTest, long_words_are_cut) {
  const Speaker speaker(std::string(100'000, 'x'));
  const auto heard = speaker.page().heard();
  ASSERT_TRUE(heard);
  EXPECT_GT(heard->size(), 500U);
  EXPECT_EQ(heard->find_first_not_of('x'), std::string::npos);
}

TEST(LastWordsTest, what_is_no_page_says_nothing) {
  Speaker speaker("words");
  EXPECT_EQ(LastWords::of(speaker.process(), {}).heard(), std::nullopt);
  EXPECT_EQ(LastWords::of(speaker.process(), {STDIN_FILENO}).heard(), std::nullopt);
  const LastWords::Handle another{speaker.handle().file, speaker.handle().number + 1};
  EXPECT_EQ(LastWords::of(speaker.process(), another).heard(), std::nullopt);
  Process elsewhere = speaker.process();
  elsewhere.pids += 1;
  EXPECT_EQ(LastWords::of(elsewhere, speaker.handle()).heard(), std::nullopt);
  speaker.end();
  EXPECT_EQ(speaker.page().heard(), std::nullopt);
  EXPECT_EQ(LastWords().heard(), std::nullopt);
}

}  // namespace
}  // namespace overlaptune::run
