"""Evaluators for search: fast frozen copies of a network for each kind of hardware.

Where and how a network is computed is told by four words:

- device: where the boards of a search are, and with them its network, "cpu", "cuda" or "host" (the GPU's code on the
  CPU, for tests); "auto" is one of the first two.
- where: for boards in the CPU's memory (`NetEvaluator`), the device that computes the network.
- dtype: of the network's base.  What is asked for is tried first if the hardware is fast in it:

      asked       tried first on a CPU                                on a GPU
      None        int8 with VNNI and without AMX, else as "bfloat16"  bfloat16 if it has it, else float32
      "int8"      int8 with VNNI, else as "bfloat16"                  as None
      "bfloat16"  bfloat16 with AMX or AVX512-BF16, else float32      bfloat16
      "float32"   float32                                             float32

  int8 needs OpenVINO too; without it, it is as "bfloat16".  On "host", None is float32 where the boards are there too.
- form: the code that computes it, the fastest first: on a CPU "openvino" if it is installed, "folded" and "modules"
  (both torch's); on a GPU "fused", "folded" and "modules".  The first one counts whose outputs agree with those of the
  network.  If none does in the dtype, float32 is tried, on a CPU as "folded" and then as the modules themselves,
  without a comparison; on a GPU as "modules", else the network is `Unsupported` there, and "auto" takes the CPU.
"""
