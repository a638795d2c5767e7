#pragma once
// The log of the time in which an object of this class lives.

#include <memory>
#include <sstream>
#include <string>
#include <string_view>

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

namespace overlaptune {

/// Replaces the default logger while it lives.
class CapturedLog {
 public:
  CapturedLog() {
    spdlog::set_default_logger(std::make_shared<spdlog::logger>(
        "", std::make_shared<spdlog::sinks::ostream_sink_st>(text_)));
  }
  ~CapturedLog() { spdlog::set_default_logger(before_); }
  CapturedLog(const CapturedLog&) = delete;
  CapturedLog& operator=(const CapturedLog&) = delete;
  [[nodiscard]] std::string text() const { return text_.str(); }
  [[nodiscard]] int count(std::string_view words) const {
    const std::string text = text_.str();
    int found = 0;
    for (auto at = text.find(words); at != text.npos; at = text.find(words, at + 1)) ++found;
    return found;
  }

 private:
  std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
  std::ostringstream text_;
};

}  // namespace overlaptune
