"""The names of the hardware counters in Nsight Compute and CUPTI, and the error for missing counters."""

#: Operations of the tensor cores. The types that are counted separately depend on the architecture.
TENSOR_OPERATIONS = "sm__ops_path_tensor_src_"
#: Samples of warps by stall reason.
STALLS = "smsp__pcsamp_warps_issue_stalled_"

#: All other counters. An architecture may lack some.
COUNTED = (
    "gpu__time_duration.sum",
    "dram__bytes.sum",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "lts__t_bytes.sum",
    "lts__t_sectors_srcunit_tex.sum",
    "l1tex__t_bytes.sum",
    "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum",
    "l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st.sum",
    "l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_red.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_misc.sum",
    *(
        f"smsp__sass_thread_inst_executed_op_{operation}_pred_on.sum"
        for operation in (
            *("fadd", "fmul", "ffma", "hadd", "hmul", "hfma", "dadd", "dmul", "dfma"),
            *("integer", "conversion"),
        )
    ),
    *(
        f"sm__{pipe}.avg.pct_of_peak_sustained_active"
        for pipe in (
            *("pipe_tensor_cycles_active", "pipe_alu_cycles_active", "pipe_fma_cycles_active"),
            *("pipe_fp64_cycles_active", "pipe_tma_cycles_active", "inst_executed_pipe_lsu"),
            *("inst_executed_pipe_xu", "inst_executed_pipe_uniform", "inst_executed_pipe_tex"),
            *("inst_executed_pipe_adu", "inst_executed_pipe_cbu", "throughput"),
        )
    ),
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "sm__cycles_active.avg",
    "sm__cycles_elapsed.max",
    "sm__cycles_elapsed.avg.per_second",
    "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "smsp__inst_executed.sum",
)

FORBIDDEN = (
    "This host permits only root to read performance counters. On the host, write "
    "“options nvidia NVreg_RestrictProfilingToAdminUsers=0” into /etc/modprobe.d/nvidia-profiling.conf and "
    "reload the driver (or restart the host). In a container, grant CAP_SYS_ADMIN."
)


class NoCounters(Exception):
    """No counters are available. The message gives the reason and the remedy."""
