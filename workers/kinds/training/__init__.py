"""Job kinds of training: Megatron, project scripts, corpora, parallel strategies."""
