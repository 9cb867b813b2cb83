"""The contract suite: what every sandbox must do: the embedded one, `ioi-eval serve`, named Piston servers."""
