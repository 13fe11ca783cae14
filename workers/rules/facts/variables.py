"""Facts from a process environment that is known as a whole (DOMAIN 5.4, R-ENV-10)."""

from collections.abc import Iterator, Mapping

from workers.rules.facts.base import Observed

ASD = ("NPU_ASD_ENABLE", "NPU_ASD_CONFIG")
VARIABLES = ("PYTORCH_NPU_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "HCCL_BUFFSIZE",
             "MULTI_STREAM_MEMORY_REUSE", "LD_LIBRARY_PATH", "ASCEND_GLOBAL_LOG_LEVEL",
             "ASCEND_SLOG_PRINT_TO_STDOUT", *ASD)
OF_SET_ENV = ("ASCEND_TOOLKIT_HOME", "ASCEND_HOME_PATH", "ASCEND_OPP_PATH")  # set_env.sh of CANN
GIVEN = " ".join((*VARIABLES, "asd_variables", "is_set_env_sourced"))


def of_environment(environment: Mapping[str, str]) -> Iterator[Observed]:
    """Facts of all variables; one that is not there is known to be unset, which is ""."""
    for name in VARIABLES:
        yield Observed(name, str(environment.get(name) or ""))
    yield Observed("asd_variables", {name: environment[name] for name in ASD
                                     if environment.get(name)})
    yield Observed("is_set_env_sourced", any(environment.get(name) for name in OF_SET_ENV))
