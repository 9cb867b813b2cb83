"""Data sets of the Hugging Face Hub, through `datasets`, which downloads them once and memory-maps them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ioi_eval.errors import InputError
from ioi_eval.problems.row import Row, Source
from ioi_eval.rows.jsonl import JsonLines
from ioi_eval.rows.source import ENDINGS, SplitChoice, split_in

if TYPE_CHECKING:
    import datasets

Answer = TypeVar("Answer")


def names_of_owner(owner: str) -> tuple[str, ...]:
    """The names of all data sets of an owner, without the owner's name."""
    from huggingface_hub import HfApi

    try:
        return tuple(data_set.id.removeprefix(f"{owner}/") for data_set in HfApi().list_datasets(author=owner))
    except hub_errors() as error:
        message = hub_error_text(error)
        raise InputError(f"the Hub cannot be asked for the data sets of {owner}: {message}. {HUB_ADVICE}") from error


HUB_ADVICE = "Check the name, the network, and HF_TOKEN for data sets that are not public"


def hub_errors() -> tuple[type[BaseException], ...]:
    """The errors that `huggingface_hub` raises: its own, and those of the HTTP library that this version uses."""
    from huggingface_hub.errors import HfHubHTTPError

    return (OSError, ValueError, *HfHubHTTPError.__bases__)


def hub_error_text(error: BaseException) -> str:
    """The message of an error of the Hub's libraries, on one line.

    Left out are its full stop, its link about HTTP, and the name of another error that `datasets` appends in brackets.
    """
    lines = (line.strip() for line in str(error).splitlines())
    message = " ".join(line for line in lines if line and not line.startswith("For more information check:"))
    return re.sub(r" \(\w+Error\)$", "", message).rstrip(".") or type(error).__name__


def _files_by_split(name: str) -> dict[str, list[str]]:
    """The files of a data set from which rows can be read, by the split in their names."""
    from huggingface_hub import HfApi

    files: dict[str, list[str]] = {}
    for path in sorted(HfApi().list_repo_files(name, repo_type="dataset")):
        split = split_in(path)
        if split and path.endswith(ENDINGS):
            files.setdefault(split, []).append(path)
    return files


def downloaded(name: str, path: str) -> Path:
    """A file of a data set, in the Hub's cache on this machine."""
    from huggingface_hub import HfApi

    return Path(HfApi().hf_hub_download(name, path, repo_type="dataset"))


class HubSource(Source):
    """A data set of the Hub, by its id, `owner/name`, or a directory of the same layout, which `datasets` accepts too.
    Its configurations are read one after the other; none means the only one."""

    def __init__(self, name: str, *, configs: Sequence[str] = (), splits: SplitChoice) -> None:
        self._name = name
        self._configs = tuple(configs)
        self._splits = splits
        self._chosen_splits: tuple[str, ...] = ()
        self._loaded: list[tuple[str, datasets.Dataset]] | None = None

    def describe(self) -> str:
        """The data set; after it was read, with the splits that were chosen."""
        return self._label(", ".join(self._configs), ", ".join(self._chosen_splits))

    def with_configs(self, names: Sequence[str]) -> HubSource:
        """Only these configurations (years), unless the user named others or the data set does not have them."""
        if self._configs:
            return self
        import datasets

        existing = self._ask(datasets.get_dataset_config_names)
        chosen = [name for name in names if name in existing]
        if not chosen and len(existing) > 1 and "default" not in existing:
            raise InputError(
                f"{self.describe()} has the configurations {', '.join(existing)}, none of {', '.join(names)}"
            )
        return HubSource(self._name, configs=chosen, splits=self._splits)

    def rows(self, columns: Sequence[str] | None) -> Iterator[Row]:
        """The rows of each configuration and split in turn."""
        from ioi_eval.rows.tables import rows_of_dataset

        try:
            loaded = self._load()
        except RuntimeError as error:
            if "script" not in str(error):
                raise
            yield from self._rows_beside_script(columns)
            return
        for label, dataset in loaded:
            yield from rows_of_dataset(label, dataset, columns)

    def _load(self) -> list[tuple[str, datasets.Dataset]]:
        """Each split of each configuration, memory-mapped, with its description."""
        if self._loaded is not None:
            return self._loaded
        import datasets

        loaded = []
        for config in self._configs or (None,):
            splits = self._ask(datasets.load_dataset, config)
            instead = "the id of one that has; or save the split with `save_to_disk` and give the directory"
            self._chosen_splits = self._splits.among(list(splits), self.describe(), instead)
            loaded += [(self._label(config, split), splits[split]) for split in self._chosen_splits]
        self._loaded = loaded
        return loaded

    def _rows_beside_script(self, columns: Sequence[str] | None) -> Iterator[Row]:
        """The rows of a data set with a loading script, such as `codeparrot/apps`: from its files.

        `datasets` does not run such scripts since version 4. The files are chosen by their names: `test.jsonl`.
        """
        from ioi_eval.rows.tables import Parquet

        files = self._ask(_files_by_split)
        instead = "the id of one that has; or download its files, and give the directory"
        self._chosen_splits = self._splits.among(list(files), self.describe(), instead)
        for split in self._chosen_splits:
            for path in files[split]:
                local = self._ask(downloaded, path)
                reader = Parquet(local) if path.endswith(".parquet") else JsonLines(local)
                where = split if len(files[split]) == 1 else f"{split}, {path}"  # rows are numbered in each file from 1
                for row in reader.rows(columns):
                    yield replace(row, source=self._label(None, where))

    def _ask(self, ask: Callable[..., Answer], *args: str | None) -> Answer:
        """The answer of the Hub, or of the cache of downloads."""
        from datasets.exceptions import DatasetsError

        try:
            return ask(self._name, *args)
        except (*hub_errors(), DatasetsError) as error:
            raise InputError(
                f"there is no file or directory {self._name}, so it was taken for a data set of the Hub, which cannot "
                f"be read: {hub_error_text(error)}. Check the path or the name, the network, and HF_TOKEN if it is not "
                "public"
            ) from error

    def _label(self, config: str | None, split: str) -> str:
        parts = ": ".join(part for part in (config, split) if part)
        return f"the Hub data set {self._name}" + (f" ({parts})" if parts else "")
