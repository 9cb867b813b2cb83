#pragma once
const char *solve();
