// Names of modules in the classes of transformers and vLLM, and the products that compute them.

#include "workload/module_names.hpp"

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

/// "attention.q_proj", "experts.down_proj": the modules that an entry names.
std::string named(const std::string& entry,
                  const std::map<std::string, std::string>& own_names = {}) {
  constexpr std::array<const char*, 4> kBlocks{"attention", "dense", "shared", "experts"};
  const auto found = modules_named(entry, own_names);
  if (!found) return "not known";
  std::string text;
  for (const std::size_t i : found->modules) {
    const Module& module = kModules.at(i);
    text += text.empty() ? "" : " ";
    text += std::string(kBlocks.at(static_cast<std::size_t>(module.block))) + "." +
            std::string(module.name);
  }
  if (found->layer) text += " of " + std::to_string(*found->layer);
  return text;
}

constexpr const char* kQkv = "attention.q_proj attention.k_proj attention.v_proj";

TEST(ModuleNames, a_block_is_all_of_its_modules) {
  EXPECT_EQ(named("re:.*self_attn.*"), std::string(kQkv) + " attention.o_proj");
  EXPECT_EQ(named("model.layers.*.self_attn*"), std::string(kQkv) + " attention.o_proj");
  EXPECT_EQ(named("model.layers.3.mlp.experts"),
            "experts.gate_proj experts.up_proj experts.down_proj of 3");
  EXPECT_EQ(named("re:.*mlp.shared_expert$"), "shared.gate_proj shared.up_proj shared.down_proj");
}

// Classes: Llama, Phi, GPT-NeoX, Falcon, OPT, GPT-2, InternLM2, LFM2, Mixtral, ChatGLM, EXAONE,
// GraniteMoe, ModernBERT, DeepSeek-V4.
TEST(ModuleNames, modules_have_the_names_of_their_classes) {
  for (const auto& [entry, modules] : std::initializer_list<std::pair<std::string, std::string>>{
           {"o_proj", "attention.o_proj"},
           {"re:.*self_attn.dense", "attention.o_proj"},
           {"re:.*mlp.fc2", "dense.down_proj"},
           {"re:.*attention.dense$", "attention.o_proj"},
           {"transformer.h.7.self_attention.query_key_value", std::string(kQkv) + " of 7"},
           {"transformer.h.7.mlp.dense_4h_to_h", "dense.down_proj of 7"},
           {"model.decoder.layers.0.self_attn.out_proj", "attention.o_proj of 0"},
           {"transformer.h.0.attn.c_proj", "attention.o_proj of 0"},
           {"transformer.h.0.mlp.c_proj", "dense.down_proj of 0"},
           {"re:.*feed_forward.w2", "dense.down_proj"},
           {"re:.*attention.wqkv", kQkv},
           {"re:.*experts.*.w2", "experts.down_proj"},
           {"re:.*block_sparse_moe.input_linear", "experts.gate_proj experts.up_proj"},
           {"re:.*mlp.c_fc_1", "dense.up_proj"},
           {"layers.0.mlp.Wi", "dense.gate_proj dense.up_proj of 0"},
           {"layers.0.attn.Wo", "attention.o_proj of 0"},
           {"model.layers.1.mlp.gate_up_proj.weight", "dense.gate_proj dense.up_proj of 1"},
           {"layers.0.attn.wo_b", "attention.o_proj of 0"},
           {"backbone.layers.4.mixer.q_proj", "attention.q_proj of 4"}}) {
    EXPECT_EQ(named(entry), modules) << entry;
  }
  // Qwen's first MLPs: c_proj(w1(x) * silu(w2(x))).
  EXPECT_EQ(named("transformer.h.0.mlp.w2", {{"w2", "gate_proj"}}), "dense.gate_proj of 0");
}

TEST(ModuleNames, modules_without_a_product_name_nothing) {
  for (const std::string entry :
       {"model.layers.0.self_attn.q_a_proj", "re:.*self_attn.kv_a_proj_with_mqa$",
        "re:.*kv_b_proj.*", "re:.*self_attn.attn$", "re:.*self_attn.k_scale", "lm_head",
        "re:.*mlp.gate$", "model.layers.0.self_attn.rotary_emb", "re:.*self_attn.q_norm",
        "talker.model.layers.0.self_attn.q_proj", "code2wav.layers.1.mlp",
        "vision_tower.encoder.layers.0.self_attn.q_proj", "backbone.layers.0.mixer.out_proj"}) {
    EXPECT_EQ(named(entry), "") << entry;
  }
}

TEST(ModuleNames, other_forms_are_not_known) {
  for (const std::string entry :
       {"self_attn.foo", "model.layers.0.mlp.bar_proj", "re:.*(q|k)_proj", "LlamaMLP", "dense",
        "model.layers.0.mlp.experts.3.down_proj", "self_attn.w2", "re:.*layers.1.*",
        "model.layers.99999999999.mlp", "model.layers.5x.mlp", "re:.*language_model.*", "", "*"}) {
    EXPECT_EQ(named(entry), "not known") << entry;
  }
  EXPECT_NE(named("model.layers.4"), "not known");  // the layer as a whole
}

}  // namespace
}  // namespace overlaptune
