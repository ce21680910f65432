"""What several rules need to know: places of settings, words for sizes, the geometry of attention, RoPE, versions."""
