#!/usr/bin/env bash

# Makes the package complete, in place: judge/, our pair of scripts for the classic contract with the runner, and, if
# GCC_TREE names an installed GCC (one of Piston's own gcc packages, unpacked, will do), gcc/.
#
# GRADERS says where ioi_eval's graders/ lies; by default, where it lies in a checkout.

set -eu
cd "$(dirname "${BASH_SOURCE[0]}")"
graders=${GRADERS:-../../../../graders}

mkdir -p judge
cp "$graders/compile" "$graders/run" "$graders/compiler_files" judge/
"${CXX:-g++}" -std=c++17 -O2 -pipe -static -s -o judge/runner "$graders/runner.cpp"
chmod 755 judge/*
digest=$(cd "$graders" && LC_ALL=C && cat runner.cpp runner/*.h | sha256sum)
echo "${digest%% *}" > judge/runner.digest

if [ -n "${GCC_TREE:-}" ]; then
    mkdir -p gcc
    cp -a "$GCC_TREE/." gcc/
fi
