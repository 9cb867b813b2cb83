#!/usr/bin/env bash

# Completes the package in place. judge/ gets our two scripts for classic jobs, and the runner. If GCC_TREE names an
# installed GCC (for example one of Piston's own gcc packages, unpacked), gcc/ gets a copy of it.
#
# GRADERS is the directory graders/ of ioi_eval; by default that of the checkout. PRECOMPILED_STANDARDS are the C++ standards for
# which workers precompile <bits/stdc++.h> (see precompile).

set -eu
cd "$(dirname "${BASH_SOURCE[0]}")"
graders=${GRADERS:-../../../../graders}

mkdir -p judge
cp "$graders/compile" "$graders/run" "$graders/compiler_files" judge/
"${CXX:-g++}" -std=c++17 -O2 -pipe -s -static -o judge/runner "$graders/runner.cpp"
chmod 755 judge/*
digest=$(cd "$graders" && LC_ALL=C && cat runner.cpp runner/*.h | sha256sum)
echo "${digest%% *}" > judge/runner.digest
hash=$(sha256sum < judge/runner)
echo "${hash%% *} $(cksum < judge/runner)" > judge/runner.sums # so that a job need not hash the runner

echo "${PRECOMPILED_STANDARDS-gnu++17 gnu++20}" > precompiled_standards

if [ -n "${GCC_TREE:-}" ]; then
    mkdir -p gcc
    cp -a "$GCC_TREE/." gcc/
fi
