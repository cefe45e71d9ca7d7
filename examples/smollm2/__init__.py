"""SmolLM2-135M-Instruct: a language model whose key-value caches the delegate owns."""
