"""Claims that the counts of kernels lean on: what a layer launches in turn, and when a graph is recorded."""

from core.course.citations.predicates import Says

_COUNTS, _FLOORS = "core/steps/launches.py", "core/evidence/kinds.py"
_LLAMA, _CHUNKS = "model_executor/models/llama.py", "third_party/flash_linear_attention/ops"
_MOE = "model_executor/layers/fused_moe/experts"
_LATENT = "models/deepseek_common/attention_forward_methods/forward_mla.py"

# fmt: off
VLLM = (
    ("kernels_norms", _LLAMA, "LlamaDecoderLayer.forward",
     Says("self.input_layernorm(", "self.self_attn(", "self.post_attention_layernorm(", "self.mlp("), _COUNTS,
     "0.33.0"),
    ("kernels_attention", _LLAMA, "LlamaAttention.forward",
     Says("self.qkv_proj(", "self.rotary_emb(", "self.attn(", "self.o_proj("), _COUNTS, "0.33.0"),
    ("kernels_mlp", _LLAMA, "LlamaMLP.forward", Says("self.gate_up_proj(", "self.act_fn", "self.down_proj(x)"),
     _COUNTS, "0.33.0"),
    ("kernels_latent", "model_executor/layers/mla.py", "MultiHeadLatentAttentionWrapper.forward",
     Says("self.fused_qkv_a_proj(", "self.q_a_layernorm(", "self.kv_a_layernorm(", "q_proj_layer(q_proj_input)",
          "self.rotary_emb(", "self.mla_attn(", "self.o_proj("), _COUNTS, "0.33.0"),
    ("kernels_absorbed", "model_executor/layers/attention/mla_attention.py", "MLAAttention.forward_impl",
     Says("torch.bmm(mqa_q_nope, W_UK_T", "self.impl.forward_mqa(", "self._v_up_proj("), _COUNTS, "0.33.0"),
    ("kernels_indexer", "model_executor/models/deepseek_v2.py", "Indexer.forward",
     Says("self.wq_b(", "self.wk_weights_proj(", "self.k_norm(", "rotary_emb(", "per_token_group_quant_fp8(",
          "self.indexer_op("), _COUNTS, "0.33.0"),
    ("kernels_delta", f"{_CHUNKS}/chunk.py", "chunk_gated_delta_rule_fwd",
     Says("chunk_local_cumsum(", "chunk_scaled_dot_kkt_fwd(", "solve_tril(", "recompute_w_u_fwd(",
          "chunk_gated_delta_rule_fwd_h(", "chunk_fwd_o("), _COUNTS, "0.33.0"),
    ("kernels_solved", f"{_CHUNKS}/solve_tril.py", "solve_tril", Says("torch.zeros_like(A", "merge_fn[NT, B * H]("),
     _COUNTS, "0.33.0"),
    ("kernels_scan", "model_executor/layers/mamba/ops/ssd_combined.py", "_mamba_chunk_scan_combined_fwd",
     Says("_chunk_cumsum_fwd(", "_chunk_state_fwd(", "_state_passing_fwd(", "_bmm_chunk_fwd(", "_chunk_scan_fwd("),
     _COUNTS, "0.33.0"),
    ("kernels_state_step", "model_executor/layers/mamba/mamba_mixer2.py", "MambaMixer2.conv_ssm_forward",
     Says("causal_conv1d_update(", "selective_state_update("), _COUNTS, "0.33.0"),
    ("kernels_delta_step", "model_executor/layers/mamba/gdn/qwen_gdn_linear_attn.py",
     "QwenGatedDeltaNetAttention._forward_core_decode_non_spec",
     Says("causal_conv1d_update(", "fused_recurrent_gated_delta_rule_packed_decode("), _COUNTS, "0.33.0"),
    ("kernels_experts", f"{_MOE}/triton_moe.py", "TritonExperts.apply",
     Says("_prepare_expert_assignment(", "invoke_fused_moe_triton_kernel(", "self.activation(",
          "invoke_fused_moe_triton_kernel(", "self._finalize_expert_output("), _COUNTS, "0.33.0"),
    ("kernels_experts_fused", f"{_MOE}/trtllm_fp8_moe.py", "TrtLlmFp8ExpertsMonolithic._apply_block_scale",
     Says("routing_logits=router_logits", "trtllm_fp8_block_scale_moe("), _COUNTS, "0.33.0"),
    ("prompt_graphs", "config/vllm.py", "VllmConfig._set_cudagraph_sizes",
     Says("1024 if current_platform.is_device_capability_family(100) else 512"), _FLOORS, "0.33.0"),
)
SGLANG = (
    ("kernels_attention", "models/llama.py", "LlamaAttention",
     Says("self.qkv_proj(hidden_states)", "self.rotary_emb(", "self.attn(", "self.o_proj("), _COUNTS, "0.5.23"),
    ("kernels_mlp", "models/llama.py", "LlamaMLP.forward",
     Says("self.gate_up_proj(x)", "self.act_fn(", "self.down_proj("), _COUNTS, "0.5.23"),
    ("kernels_latent", _LATENT, "DeepseekMLAForwardMixin.forward_absorb_prepare",
     Says("self.q_a_layernorm(", "self.kv_a_layernorm(", "self.q_b_proj_forward("), _COUNTS, "0.5.23"),
    ("kernels_absorbed", _LATENT, "DeepseekMLAForwardMixin.forward_absorb_core",
     Says("self.attn_mqa(", "torch.bmm(", "self.o_proj("), _COUNTS, "0.5.23"),
    ("kernels_experts", "layers/moe/moe_runner/triton_utils/fused_moe.py", "_fused_moe_kernel_sequence",
     Says("invoke_fused_moe_kernel(", "silu_and_mul(", "invoke_fused_moe_kernel(", "moe_combine_topk("), _COUNTS,
     "0.5.23"),
    ("prompt_graphs", "model_executor/cuda_graph_config.py", "default_prefill_backend",
     Says("Backend.BREAKABLE if is_cuda() else Backend.DISABLED"), _FLOORS, "0.5.23"),
)
# fmt: on
