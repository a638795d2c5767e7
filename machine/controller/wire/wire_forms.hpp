#pragma once
// The structs of messages.hpp and wire.hpp as JSON (json/fields.hpp); wire.cpp puts them into
// lines.

#include <string>
#include <utility>

#include "json/fields.hpp"
#include "json/probe_forms.hpp"
#include "machine/controller/wire/wire.hpp"

namespace overlaptune::cuda {

/// An integer of -1 or more.
struct IntegerOrMinusOne {
  template <class Json>
  [[nodiscard]] static Json write(int value) {
    return value;
  }
  static void read(const JsonReader& at, int& value) { value = at.small(-1); }
};

/// A value as the text that `parse` reads.
template <auto parse>
struct Line {
  template <class Json, class T>
  [[nodiscard]] static Json write(const T& value) {
    return to_string(value);
  }
  template <class T>
  static void read(const JsonReader& at, T& value) {
    auto parsed = parse(at.text());
    if (!parsed) at.fail(parsed.error().message);
    value = std::move(*parsed);
  }
};

inline constexpr Object kTile(kTileFields);
inline constexpr Object kConditions(left_out("sm_clock_mhz", &Conditions::sm_clock_mhz),
                                    left_out("power_w", &Conditions::power_w));

inline constexpr Object kDevice(
    Field{"model", &Device::model}, Field{"sms", &Device::sms},
    Field{"compute_capability", &Device::compute_capability},
    Field{"memory_bytes", &Device::memory}, Field{"driver_version", &Device::driver_version},
    Field{"cuda_version", &Device::cuda_version}, Field{"nccl_version", &Device::nccl_version},
    Field{"topology", &Device::topology}, Field{"transport", &Device::link},
    Field{"network", &Device::network}, Field{"pci_bus", &Device::pci_bus},
    field("numa_node", &Device::numa_node, IntegerOrMinusOne{}),
    Field{"power_limit_w", &Device::power_limit_w},
    Field{"max_sm_clock_mhz", &Device::max_sm_clock_mhz}, Field{"ecc", &Device::ecc});

/// The first line of a worker. One in another protocol is read as far as to know who greets.
struct HelloForm {
  static constexpr Object kOfAny{Field{"protocol", &Hello::protocol},
                                 Field{"version", &Hello::version}, Field{"rank", &Hello::rank},
                                 Field{"host", &Hello::host}};
  static constexpr Object kOfOurs{Field{"pid", &Hello::pid}, Field{"node", &Hello::node},
                                  field("device", &Hello::device, kDevice)};
  template <class Json>
  [[nodiscard]] static Json write(const Hello& hello) {
    Json object = kOfAny.write<Json>(hello);
    kOfOurs.put(object, hello);
    return object;
  }
  static void read(const JsonReader& at, Hello& hello) {
    kOfAny.read(at, hello);
    if (hello.protocol == kProtocol) kOfOurs.read(at, hello);
  }
};
inline constexpr Object kAgentHello(Field{"protocol", &AgentHello::protocol},
                                    Field{"version", &AgentHello::version},
                                    Field{"rank", &AgentHello::rank},
                                    Field{"size", &AgentHello::size},
                                    Field{"host", &AgentHello::host});

inline constexpr Object kEnded(Field{"how", &Ended::how}, Field{"killed", &Ended::killed},
                               Field{"last_words", &Ended::last_words});

inline constexpr Object kJoinRequest(Field{"nccl_id", &JoinRequest::nccl_id},
                                     Field{"ranks", &JoinRequest::ranks},
                                     Field{"allow_multicast", &JoinRequest::allow_multicast});

inline constexpr Object kTiledKernel(field("tile", &TiledKernel::tile, kTile),
                                     Field{"dtype", &TiledKernel::elements},
                                     Field{"regions", &TiledKernel::regions},
                                     Field{"waits", &TiledKernel::waits},
                                     Field{"ranks", &TiledKernel::ranks});

inline constexpr Object kGemmProbe(Field{"m", &GemmProbe::m}, Field{"n", &GemmProbe::n},
                                   Field{"k", &GemmProbe::k}, Field{"dtype", &GemmProbe::elements},
                                   field("tile", &GemmProbe::tile, kTile),
                                   Field{"swizzle", &GemmProbe::swizzle},
                                   Field{"sms", &GemmProbe::sms});
inline constexpr auto kProbes = probe_forms(kGemmProbe);

/// A probe is an object with one field, which is named for its kind.
struct ProbeForm {
  template <class Json>
  [[nodiscard]] static Json write(const Probe& probe) {
    Json object = Json::object();
    visit_alternative(kProbes, probe, [&](auto name, const auto& form, const auto& value) {
      object[std::string(name)] = written<Json>(form, value);
    });
    return object;
  }
  static void read(const JsonReader& at, Probe& probe) {
    const auto place = [&](std::string_view name) {
      return at.has(name) ? std::optional(at[name]) : std::nullopt;
    };
    if (!read_alternative(kProbes, probe, place)) {
      at.fail("expected a probe, one of " + names_of(kProbes));
    }
  }
};

inline constexpr Object kSamples(Field{"times_us", &Samples::times},
                                 Field{"collective_times_us", &Samples::collective_times},
                                 field("conditions", &Samples::conditions, kConditions),
                                 left_out("library_tile", &Samples::library_tile, kTile));

inline constexpr Object kRunRequest(
    field("problem", &RunRequest::problem, Line<parse_problem>{}),
    field("configs", &RunRequest::configs, Line<parse_config>{}),
    Field{"launch", &RunRequest::launch}, Field{"repetitions", &RunRequest::repetitions},
    Field{"seed", &RunRequest::seed}, Field{"spread", &RunRequest::spread},
    Field{"phase", &RunRequest::phase}, Field{"own_memory", &RunRequest::own_memory},
    Field{"trace", &RunRequest::trace}, Field{"fault", &RunRequest::fault});

inline constexpr Object kActivity(Field{"rank", &Activity::rank},
                                  Field{"stream", &Activity::stream},
                                  Field{"kind", &Activity::kind}, Field{"name", &Activity::name},
                                  Field{"start_us", &Activity::start},
                                  Field{"end_us", &Activity::end});
inline constexpr Object kConfigSamples(Field{"verdict", &ConfigSamples::verdict},
                                       Field{"reason", &ConfigSamples::reason},
                                       Field{"times_us", &ConfigSamples::times},
                                       field("conditions", &ConfigSamples::conditions, kConditions),
                                       field("activities", &ConfigSamples::activities, kActivity));
inline constexpr Object kRunReply(field("configs", &RunReply::configs, kConfigSamples),
                                  Field{"gemm_alone_us", &RunReply::gemm_alone},
                                  Field{"collective_alone_us", &RunReply::collective_alone});
inline constexpr Object kRunStep(field("config", &RunStep::config, IntegerOrMinusOne{}),
                                 Field{"step", &RunStep::step});

}  // namespace overlaptune::cuda
