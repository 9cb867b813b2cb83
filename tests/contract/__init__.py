"""The contract suite: requirements for every sandbox: the embedded one, `ioi-eval serve`, named Piston servers."""
