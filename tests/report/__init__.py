"""Tests of `ioi_eval/report`: results, tables, page and exports."""
