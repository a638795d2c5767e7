// Names of modules in the classes of transformers and vLLM, and the products that compute them.

#include "workload/module_names.hpp"

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

/// "attention.q_proj", "experts.down_proj": the modules that an entry names.
std::string named(const std::string& entry,
                  const std::map<std::string, std::string>& own_names = {}) {
  constexpr std::array<const char*, 4> kBlocks{"attention", "dense", "shared", "experts"};
  const auto found = modules_named(entry, {.own_names = own_names});
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

constexpr const char* kAttention =
    "attention.q_proj attention.k_proj attention.v_proj attention.o_proj";

TEST(ModuleNames, numbers_of_all_layers_are_no_number) {
  for (const std::string entry :
       {"re:.*layers\\.\\d+\\.self_attn\\..*", "re:.*layers.[0-9]+.self_attn.*",
        "re:model.layers..*.self_attn", "re:^model\\.layers\\.\\d+\\.self_attn\\..*$",
        "model.layers.*.self_attn", "*.layers.*.self_attn*", "re:.*layers.*self_attn"}) {
    EXPECT_EQ(named(entry), kAttention) << entry;
  }
  EXPECT_EQ(named("re:.*layers\\.7\\.self_attn\\..*"), std::string(kAttention) + " of 7");
  EXPECT_EQ(named("re:.*mlp\\.experts\\.\\d+\\.down_proj"), "experts.down_proj");
}

// By Python's re.match each of them names some layers of 32, or none.
TEST(ModuleNames, patterns_of_some_layers_are_not_known) {
  for (const std::string entry :
       {"re:.*layers\\.\\d\\.mlp\\..*", "re:.*layers\\.\\d{2}\\.self_attn\\..*",
        "re:.*layers\\..\\.self_attn.*", "re:.*\\.0\\.mlp.*", "re:.*\\.31\\.self_attn\\.o_proj",
        "model.layers.1*.mlp*", "re:.*layers\\.1\\d\\.mlp\\..*", "re:.*layers.1.*mlp.*",
        "re:.*layers.*1\\.mlp", "re:.*layers.+\\.mlp\\.down_proj", "re:.*layers.mlp",
        "re:.*layers\\.[1-9]+\\.mlp", "re:.*layers\\.\\w+\\.mlp", "re:.*layers*.mlp"}) {
    EXPECT_EQ(named(entry), "not known") << entry;
  }
}

TEST(ModuleNames, layers_of_encoders_have_numbers) {
  const auto of_bert = [](const std::string& entry) {
    return modules_named(entry, {.type = "bert", .encoder = true});
  };
  const auto found = of_bert("bert.encoder.layer.3.attention.self.query");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->layer, 3);
  EXPECT_EQ(found->modules.size(), 1U);
  const auto output = of_bert("bert.encoder.layer.3.attention.output.dense");
  ASSERT_TRUE(output && output->modules.size() == 1);
  EXPECT_EQ(kModules.at(output->modules.front()).name, "o_proj");
  EXPECT_FALSE(of_bert("bert.encoder.layer.3.output.dense"));
  EXPECT_FALSE(of_bert("bert.encoder.layer.3.output"));
  const auto vit = modules_named("vit.encoder.layer.23.attention.output.dense",
                                 {.type = "vit", .encoder = true});
  EXPECT_TRUE(vit && vit->layer == 23 && vit->modules.size() == 1);
}

TEST(ModuleNames, modules_of_other_parts_are_not_those_of_the_language_model) {
  for (const std::string entry :
       {"model.embed_tokens_extend.image_embed.img_processor.encoder.layers.0.self_attn.q_proj",
        "re:.*img_processor.*self_attn.*", "vpm.encoder.layers.0.mlp.fc1", "vit.blocks.1.mlp.fc1",
        "re:.*vit.*mlp.*", "resampler.attn.out_proj", "re:.*cross_attn.o_proj",
        "model.sam_model.blocks.0.attn", "vision_model.transformer.layers.0.self_attn.q_proj"}) {
    EXPECT_EQ(named(entry), "") << entry;
  }
  for (const std::string entry : {"re:.*encoder.*self_attn.*", "model.connector.layers.0.mlp",
                                  "encoder.layers.0.self_attn.q_proj"}) {
    EXPECT_EQ(named(entry), "not known") << entry;
  }
  EXPECT_EQ(named("transformer.encoder.layers.3.self_attention.dense"), "attention.o_proj of 3");
  EXPECT_EQ(named("language_model.model.layers.3.self_attn.o_proj"), "attention.o_proj of 3");
}

TEST(ModuleNames, a_gate_that_may_be_gate_proj_is_not_the_router) {
  for (const std::string entry : {"re:.*mlp.gate.*", "re:.*mlp.gate", "re:.*gate.*", "*gate*"}) {
    EXPECT_EQ(named(entry), "not known") << entry;
  }
  for (const std::string entry :
       {"re:.*mlp.gate$", "re:.*mlp\\.gate\\..*", "gate", "model.layers.1.mlp.gate",
        "model.layers.*.mlp.gate", "re:.*shared_expert_gate"}) {
    EXPECT_EQ(named(entry), "") << entry;
  }
}

TEST(ModuleNames, experts_behind_any_text_are_shared_ones_too) {
  const auto count = [](const char* entry, const char* block) {
    const auto found = modules_named(entry, {.shared = block});
    return found ? found->modules.size() : 0;
  };
  EXPECT_EQ(count("re:.*experts.*", "shared_experts"), 6U);
  EXPECT_EQ(count("*experts*", "shared_experts"), 6U);
  EXPECT_EQ(count("re:.*experts.*.down_proj", "shared_experts"), 2U);
  EXPECT_EQ(count("re:.*mlp.experts.*", "shared_experts"), 3U);
  // Qwen's shared_expert does not end in "experts".
  EXPECT_EQ(count("re:.*experts.*", "shared_expert"), 3U);
}

// No class has modules of these names.
TEST(ModuleNames, words_stand_in_their_order) {
  for (const std::string entry :
       {"re:.*self_attn$", "re:.*layers\\.31.mlp$", "re:.*layers\\.1\\.q_proj",
        "re:model.self_attn.*", "re:.*mlp.*self_attn", "re:.*self_attn.*layers.*mlp",
        "model.layers.*.o_proj.*"}) {
    EXPECT_EQ(named(entry), "not known") << entry;
  }
  EXPECT_EQ(named("model.decoder.layers.3.fc2"),
            "dense.down_proj shared.down_proj "
            "experts.down_proj of 3");
}

TEST(ModuleNames, patterns_are_matched_from_the_beginning) {
  for (const std::string entry :
       {"re:self_attn.*", "re:layers.*mlp", "re:mlp", "re:\\.mlp", "re:.mlp"}) {
    EXPECT_EQ(named(entry), "not known") << entry;
  }
  EXPECT_EQ(named("re:model.*mlp.gate_proj"), "dense.gate_proj");
  EXPECT_EQ(named("re:vision_tower.*"), "");
  EXPECT_EQ(named("re:.*Self_Attn.*"), "not known");
}

}  // namespace
}  // namespace overlaptune
