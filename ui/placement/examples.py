"""What the planner's fields offer to begin with."""

EXAMPLE_TOPOLOGY = """\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tCPU Affinity\tNUMA Affinity
GPU0\t X \tNV4\tSYS\tSYS\tPIX\t0-31\t0
GPU1\tNV4\t X \tSYS\tSYS\tPIX\t0-31\t0
GPU2\tSYS\tSYS\t X \tNV4\tSYS\t32-63\t1
GPU3\tSYS\tSYS\tNV4\t X \tSYS\t32-63\t1
"""
EXAMPLE_CONFIG = """{
  "model_type": "qwen3",
  "hidden_size": 5120,
  "intermediate_size": 25600,
  "num_attention_heads": 64,
  "num_hidden_layers": 64,
  "num_key_value_heads": 8,
  "head_dim": 128,
  "vocab_size": 151936,
  "max_position_embeddings": 40960,
  "quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128}
}
"""
EXAMPLE_TRACE = "arrival,prompt,output\n" + "".join(
    f"{0.4 * index:.1f},{600 + 700 * (index % 5)},{80 + 60 * (index % 4)}\n" for index in range(80)
)
