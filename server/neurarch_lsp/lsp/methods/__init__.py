"""One file per LSP method: each has a function ``handle(server, params)``; ``..registration`` names them."""
