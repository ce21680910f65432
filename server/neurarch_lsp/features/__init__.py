"""What an editor shows beside diagnostics, as plain values and offsets: nothing here knows the protocol."""
