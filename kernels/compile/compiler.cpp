#include "kernels/compile/compiler.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/compile/device_headers.hpp"

namespace overlaptune::kernels {
namespace {

constexpr int kSuccess = 0;  // NVRTC_SUCCESS

/// `--ptxas-options=-v` makes the log tell registers, spills and stack, also where NVRTC makes the
/// cubin itself (checked with 13.0). With `--no-source-include` a source can include no file.
constexpr const char* kFlags[] = {"--std=c++20", "--device-as-default-execution-space",
                                  "--no-source-include", "--ptxas-options=-v"};

class Program {
 public:
  Program(const Nvrtc& nvrtc, const KernelSource& source)
      : nvrtc_(nvrtc), expression_(to_string(source)) {
    const std::string file = source.name + ".cu";
    std::vector<const char*> names;
    std::vector<const char*> texts;
    for (const DeviceHeader& header : device_headers()) {  // literals, which end in a zero
      names.push_back(header.name.data());
      texts.push_back(header.text.data());
    }
    check("nvrtcCreateProgram",
          nvrtc_.create(&program_, source.text.c_str(), file.c_str(),
                        static_cast<int>(names.size()), texts.data(), names.data()));
    check("nvrtcAddNameExpression", nvrtc_.add_name(program_, expression_.c_str()));
  }
  ~Program() { nvrtc_.destroy(&program_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] int compile(const std::vector<std::string>& options) const {
    std::vector<const char*> texts;
    texts.reserve(options.size());
    for (const std::string& option : options) texts.push_back(option.c_str());
    return nvrtc_.compile(program_, static_cast<int>(texts.size()), texts.data());
  }
  [[nodiscard]] std::string log() const {
    std::string text = read("nvrtcGetProgramLog", nvrtc_.log_size, nvrtc_.log);
    text.erase(std::find(text.begin(), text.end(), '\0'), text.end());
    return text;
  }
  [[nodiscard]] std::string cubin() const {
    return read("nvrtcGetCUBIN", nvrtc_.cubin_size, nvrtc_.cubin);
  }
  [[nodiscard]] std::string symbol() const {
    const char* name = nullptr;
    check("nvrtcGetLoweredName", nvrtc_.lowered_name(program_, expression_.c_str(), &name));
    return name;
  }

 private:
  void check(const char* call, int status) const {
    if (status == kSuccess) return;
    throw Failure(ErrorKind::machine_unavailable,
                  fmt::format("{}: {} ({})", call, nvrtc_.error_string(status), status));
  }
  template <class Size, class Fill>
  std::string read(const char* call, Size size, Fill fill) const {
    std::size_t bytes = 0;
    check(call, size(program_, &bytes));
    std::string content(bytes, '\0');
    check(call, fill(program_, content.data()));
    return content;
  }

  const Nvrtc& nvrtc_;
  std::string expression_;
  Nvrtc::Program program_ = nullptr;
};

std::vector<std::string> options_for(const std::string& architecture) {
  std::vector<std::string> options{"--gpu-architecture=" + architecture};
  options.insert(options.end(), std::begin(kFlags), std::end(kFlags));
  return options;
}

std::string key_by(const std::string& nvrtc, const KernelSource& source,
                   const std::string& architecture) {
  static const std::string headers = digest_of(device_headers());
  std::string key = fmt::format("overlaptune {}, NVRTC {}\n", OVERLAPTUNE_VERSION, nvrtc);
  // Each part has its length before it, so that different parts never give the same key.
  const auto add = [&](const std::string& part) {
    key += fmt::format("{} {}\n", part.size(), part);
  };
  add(to_string(source));
  for (const std::string& option : options_for(architecture)) add(option);
  add(source.text);
  add(headers);
  return key;
}

/// The lines that are not blank, without blanks around them.
std::vector<std::string> lines_of(const std::string& log) {
  std::vector<std::string> lines;
  std::istringstream in(log);
  for (std::string line; std::getline(in, line);) {
    const auto begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos) continue;
    lines.push_back(line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1));
  }
  return lines;
}

std::string first_lines(const std::string& log) {
  constexpr std::size_t kShown = 4;
  std::vector<std::string> lines = lines_of(log);
  // Lines that point at a column mean nothing once joined.
  std::erase_if(lines, [](const std::string& line) {
    return line.find_first_not_of("^~ ") == std::string::npos;
  });
  if (lines.size() > kShown) lines.resize(kShown);
  return fmt::format("{}", fmt::join(lines, " | "));
}

bool warns(const std::string& line) {
  for (const char* word : {"warning", "Performance Loss", "setmaxnreg"}) {
    if (line.find(word) != std::string::npos) return true;
  }
  return false;
}

/// The number before `unit`: 64 in `Used 64 registers` for " registers".
std::optional<std::int64_t> number_before(std::string_view line, std::string_view unit) {
  const auto end = line.find(unit);
  if (end == std::string_view::npos) return std::nullopt;
  auto begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  std::int64_t number = 0;
  const auto [rest, failure] = std::from_chars(line.data() + begin, line.data() + end, number);
  if (failure != std::errc{} || rest != line.data() + end) return std::nullopt;
  return number;
}

}  // namespace

std::string to_string(const KernelSource& source) {
  if (source.arguments.empty()) return source.name;
  return fmt::format("{}<{}>", source.name, fmt::join(source.arguments, ","));
}

Expected<CubinProperties> parse_properties(const std::string& log) {
  CubinProperties most;
  bool found = false;
  const auto take = [](std::int64_t& value, std::optional<std::int64_t> other) {
    value = std::max(value, other.value_or(0));
  };
  for (const std::string& line : lines_of(log)) {
    const auto registers = number_before(line, " registers");
    found = found || registers.has_value();
    take(most.registers, registers);
    take(most.local_bytes, number_before(line, " bytes stack frame"));
    take(most.local_bytes, number_before(line, " bytes cumulative stack size"));
    take(most.static_shared_bytes, number_before(line, " bytes smem"));
    const auto stores = number_before(line, " bytes spill stores").value_or(0);
    take(most.spill_bytes, stores + number_before(line, " bytes spill loads").value_or(0));
  }
  if (!found) return bad_input("the compiler's log names no kernel: expected 'Used N registers'");
  return most;
}

Expected<Compiler> Compiler::load(const std::vector<std::string>& libraries) {
  const auto nvrtc = load_nvrtc(libraries);
  if (!nvrtc) return error_of(nvrtc);
  int major = 0;
  int minor = 0;
  if (const int status = nvrtc->version(&major, &minor); status != kSuccess) {
    return unavailable(fmt::format("nvrtcVersion: {} ({})", nvrtc->error_string(status), status));
  }
  return Compiler(*nvrtc, fmt::format("{}.{}", major, minor));
}

Expected<Cubin> Compiler::compile(const KernelSource& source,
                                  const std::string& architecture) const {
  const auto failed = [&](const std::string& reason) {
    return bad_input(fmt::format("kernel {} for {}: {}", to_string(source), architecture, reason));
  };
  const Program program(nvrtc_, source);
  const int status = program.compile(options_for(architecture));
  const std::string log = program.log();
  if (status != kSuccess) {
    return failed(fmt::format("{}: {}", nvrtc_.error_string(status), first_lines(log)));
  }
  const auto properties = parse_properties(log);
  if (!properties) return failed(properties.error().message);
  Cubin cubin{.bytes = program.cubin(), .symbol = program.symbol(), .properties = *properties};
  for (std::string& line : lines_of(log)) {
    if (warns(line)) cubin.warnings.push_back(std::move(line));
  }
  return cubin;
}

Expected<void> Compiler::check_architecture(const std::string& architecture) const {
  int count = 0;
  std::vector<int> known;
  if (nvrtc_.supported_count(&count) == kSuccess && count > 0) {
    known.resize(static_cast<std::size_t>(count));
    if (nvrtc_.supported(known.data()) != kSuccess) known.clear();
  }
  for (const int number : known) {
    const std::string name = fmt::format("sm_{}", number);
    // The suffix a (sm_90a) is for features of this GPU only, f (sm_100f) for those of its family.
    if (architecture == name || architecture == name + "a" || architecture == name + "f") return {};
  }
  return bad_input(
      fmt::format("architecture '{}': NVRTC {} knows sm_{}, and some of them with the "
                  "suffix a or f",
                  architecture, version_, fmt::join(known, ", sm_")));
}

std::string Compiler::key(const KernelSource& source, const std::string& architecture) const {
  return key_by(version_, source, architecture);
}

std::string key_of_any_nvrtc(const KernelSource& source, const std::string& architecture) {
  return key_by("any", source, architecture);
}

}  // namespace overlaptune::kernels
