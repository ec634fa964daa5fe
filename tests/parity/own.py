#!/usr/bin/env python3
"""Our own exports against the original's: every golden program of a family that we export is made again from its checkpoint with the same
configuration, and must give the logits that the original's program gave. own.py WICK PARITY_LLM GOLDEN WORK. Status 77: nothing to compare."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

FAMILIES = ("llama2", "llama3_2", "smollm2", "qwen2_5_0_5b", "qwen3_0_6b", "phi_4_mini", "lfm2_350m")
OTHER_SCALES = "v10_"  # made by ExecuTorch 1.0, which chooses the scales of 4-bit weights otherwise than 1.5


def main():
    wick, parity, golden, work = sys.argv[1], sys.argv[2], pathlib.Path(os.environ.get("WICK_GOLDEN") or sys.argv[3]), pathlib.Path(sys.argv[4])
    index = golden / "llm/index.json"
    if not index.exists():
        print(f"SKIP: {index} is not there")
        return 77
    shutil.rmtree(work, ignore_errors=True)
    made, failed = {}, 0
    for name, case in json.loads(index.read_text()).items():
        if not case["ok"] or case["family"] not in FAMILIES or name.startswith(OTHER_SCALES):
            continue
        folder, logits = work / "llm" / name, golden / "llm" / name / "logits.f32"
        if not logits.exists():
            continue
        options = []
        for key, value in dict(case["overrides"]).items():
            if key in ("base.checkpoint", "base.params"):
                value = golden / value
                if not value.exists():
                    print(f"left out {name}: {value} is not there")
                    break
            options.append(f"{key}={value}")
        else:
            folder.mkdir(parents=True)
            export = subprocess.run([wick, "export", "--quiet", *options, f"export.output_name={folder}/model.pte"], capture_output=True, text=True)
            if export.returncode == 0:
                shutil.copy(logits, folder)
                made[name] = case
                continue
            print(f"left out {name}: {export.stderr.strip()[:200]}")
            failed += "not supported" not in export.stderr
    if not made:
        print("SKIP: no case could be exported")
        return 1 if failed else 77
    (work / "llm/index.json").write_text(json.dumps(made))
    status = subprocess.run([parity, "llm"], env={**os.environ, "WICK_GOLDEN": str(work)}).returncode
    print(f"{len(made)} programs made, {failed} exports failed")
    return 1 if failed else status


if __name__ == "__main__":
    sys.exit(main())
