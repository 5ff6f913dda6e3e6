"""A mapped file is in memory as far as it was looked at, until the process lets go of it."""

from tempfile import TemporaryFile

from agreement_pipeline.mapped_files import let_go, mapped

SIZE = 64_000_000


def resident() -> int:
    """The memory of this process now, in bytes."""
    with open("/proc/self/smaps_rollup") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Rss:")) * 1024


def test_what_was_looked_at_leaves_the_memory_and_stays_the_same():
    with TemporaryFile() as file:
        file.write(b"0123456789abcdef" * (SIZE // 16))
        content = mapped(file)
    digits = content[:32]
    before = resident()
    looked_at = sum(content[at] for at in range(0, SIZE, 4096))
    assert resident() - before > SIZE * 0.9
    let_go()
    assert resident() - before < SIZE * 0.1
    assert looked_at == sum(content[at] for at in range(0, SIZE, 4096))
    assert content[:32] == digits == b"0123456789abcdef" * 2


def test_an_empty_file_has_no_bytes():
    with TemporaryFile() as file:
        assert mapped(file) == b""
    let_go()
