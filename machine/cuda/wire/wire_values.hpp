#pragma once
// The structs of messages.hpp as JSON objects; wire.hpp puts them into lines.

#include <nlohmann/json.hpp>

#include "machine/cuda/wire/json_reader.hpp"
#include "machine/cuda/wire/messages.hpp"

namespace overlaptune::cuda {

using Json = nlohmann::json;

[[nodiscard]] Json to_json(const Device& device);
[[nodiscard]] Json to_json(const Hello& hello);
[[nodiscard]] Json to_json(const JoinRequest& request);
[[nodiscard]] Json to_json(const TiledKernel& kernel);
[[nodiscard]] Json to_json(const Probe& probe);
[[nodiscard]] Json to_json(const Samples& samples);
[[nodiscard]] Json to_json(const RunRequest& request);
[[nodiscard]] Json to_json(const RunReply& reply);
[[nodiscard]] Json to_json(const RunStep& step);

// Each throws `Failure` (bad_input) that names the place.
[[nodiscard]] Device device_of(const JsonReader& reader);
[[nodiscard]] Hello hello_of(const JsonReader& reader);
[[nodiscard]] JoinRequest join_request_of(const JsonReader& reader);
[[nodiscard]] TiledKernel tiled_kernel_of(const JsonReader& reader);
[[nodiscard]] Probe probe_of(const JsonReader& reader);
[[nodiscard]] Samples samples_of(const JsonReader& reader);
[[nodiscard]] Config config_of(const JsonReader& reader);
[[nodiscard]] RunRequest run_request_of(const JsonReader& reader);
[[nodiscard]] RunReply run_reply_of(const JsonReader& reader);
[[nodiscard]] RunStep run_step_of(const JsonReader& reader);

}  // namespace overlaptune::cuda
