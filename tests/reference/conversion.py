#!/usr/bin/env python3
"""Conversions that went wrong elsewhere, each with what must come of it here: conversion.py WICK WORK. Status 77: no numpy.

The letters and numbers are those of the reports the cases were taken from. Others of the kind stand with the code: E1 (files from before zip archives)
and E16 (pickles that run code) in src/checkpoint/torch_test.c, E10, E12, E13 and E15 (safetensors headers) in src/checkpoint/safetensors_test.c, E6
(far positions) in families.py, E19 (programs of older versions) in tests/parity."""
import json
import pathlib
import shutil
import subprocess
import sys

from layouts import CONFIG, PARAMS, PROMPT, STEPS, TOLERANCE, hf_weights, np, random_weights, run, write_hf_files, write_safetensors
from decoder import forward

wick, work = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
weights = random_weights(PARAMS, 11)
tokens = [int(t) for t in np.random.default_rng(2).integers(1, PARAMS["vocab_size"], PROMPT + STEPS)]


def folder(name, config=None, own=None):
    at = work / name
    at.mkdir(parents=True)
    write_hf_files(at, config)
    write_safetensors(at / "model.safetensors", {**hf_weights(PARAMS, weights), **(own or {})})
    return at


def export(at, *options):
    program = at / "model.pte"
    done = subprocess.run([wick, "export", f"base.checkpoint={at}", "export.max_seq_length=32", "export.max_context_length=64", *options, f"export.output_name={program}"],
                          capture_output=True, text=True)
    return program, done


def distance(got, wanted):
    return float(np.abs(got - wanted).max() / np.abs(wanted).max())


def e3_quantized_everywhere():
    """8da4w with and without a back-end, in float32 and bfloat16: made, and one model."""
    at, rows = folder("e3"), []
    for options in (["backend.xnnpack.enabled=true"], [], ["model.dtype_override=bf16", "backend.xnnpack.enabled=true"], ["model.dtype_override=bf16"]):
        program, done = export(at, "quantization.qmode=8da4w", "quantization.group_size=32", "model.use_kv_cache=true", *options)
        assert done.returncode == 0, f"{options}: {done.stderr}"
        rows.append(run(wick, program, tokens))
    differences = [distance(other, rows[0]) for other in rows[1:]]
    assert differences[0] < 0.1 and max(differences) < 0.25, differences  # noise for weights makes much of bfloat16's


def e4_group_that_does_not_divide():
    """Columns that a group does not divide: those linears stay float, which is said; the others are quantized."""
    program, done = export(folder("e4"), "quantization.qmode=8da4w", "quantization.group_size=128", "model.use_kv_cache=true", "backend.xnnpack.enabled=true")
    assert done.returncode == 0 and "stays float" in done.stderr and "(2 of 15 linears quantized)" in done.stderr, done.stderr
    assert distance(run(wick, program, tokens), forward(PARAMS, weights, tokens)[PROMPT - 1:]) < 0.3


def e7_unknown_scaling():
    """A kind of rope scaling that is not known is refused by name, whatever its spelling."""
    for i, config in enumerate(({"rope_scaling": {"type": "proportional", "factor": 2.0}}, {"rope_scaling": {"rope_type": "proportional", "factor": 2.0}},
                                {"rope_parameters": {"rope_type": "proportional", "rope_theta": 10000.0, "factor": 2.0}})):
        _, done = export(folder(f"e7_{i}", config))
        assert done.returncode == 1 and "rope_scaling of type proportional: not supported" in done.stderr, done.stderr


def e9_tied_flag_beside_a_head():
    """The file's head is used, with a warning; the same head twice is no matter."""
    at = folder("e9", {"tie_word_embeddings": True})
    program, done = export(at, "model.use_kv_cache=true")
    assert done.returncode == 0 and "has a head of its own, which is used" in done.stderr, done.stderr
    assert distance(run(wick, program, tokens), forward(PARAMS, weights, tokens)[PROMPT - 1:]) < TOLERANCE
    at = folder("e9_same", {"tie_word_embeddings": True}, {"lm_head.weight": weights["tok_embeddings.weight"]})
    program, done = export(at, "model.use_kv_cache=true")
    assert done.returncode == 0 and "head of its own" not in done.stderr, done.stderr
    tied = {**weights, "output.weight": weights["tok_embeddings.weight"]}
    assert distance(run(wick, program, tokens), forward(PARAMS, tied, tokens)[PROMPT - 1:]) < TOLERANCE


def e18_steps_as_a_whole():
    """Token by token gives what one call gives, with and without a cache."""
    at, rows = folder("e18"), []
    for options in (["model.use_kv_cache=true"], ["model.use_kv_cache=true", "model.enable_dynamic_shape=false"], ["model.use_kv_cache=false"]):
        program, done = export(at, *options)
        assert done.returncode == 0, done.stderr
        rows.append(run(wick, program, tokens))
    assert all(distance(other, rows[0]) < 1e-5 for other in rows[1:])


def main():
    shutil.rmtree(work, ignore_errors=True)
    bad = 0
    cases = [e3_quantized_everywhere, e4_group_that_does_not_divide, e7_unknown_scaling, e9_tied_flag_beside_a_head, e18_steps_as_a_whole]
    for case in cases:
        try:
            case()
            print(f"pass {case.__name__}")
        except AssertionError as fault:
            bad += 1
            print(f"FAIL {case.__name__}: {fault}")
    print(f"{len(cases)} conversions, {bad} faults")
    return 1 if bad else 0


sys.exit(main())
