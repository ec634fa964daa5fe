# A thin front to CMake. `make demo` and `make test` set up what they need; see docs/building.md.
BUILD ?= build
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

.PHONY: all demo test setup clean asan tsan fuzz core bare aarch64

all: setup
	cmake -S . -B $(BUILD) -G Ninja
	cmake --build $(BUILD) -j $(JOBS)

setup:
	@tools/setup.sh build

demo:
	@tools/setup.sh build
	@cmake -S . -B $(BUILD) -G Ninja -DWICK_BUILD_TESTS=OFF > $(BUILD).log 2>&1 || (cat $(BUILD).log; false)
	@cmake --build $(BUILD) -j $(JOBS) --target wick_cli
	@rm -f $(BUILD).log
	@tools/demo.sh $(BUILD)/wick

test:
	@tools/setup.sh test
	cmake -S . -B $(BUILD) -G Ninja -DWICK_BUILD_TESTS=ON
	cmake --build $(BUILD) -j $(JOBS)
	ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

asan tsan:
	cmake --preset $@ -G Ninja
	cmake --build build/$@ -j $(JOBS)
	ctest --test-dir build/$@ --output-on-failure -j $(JOBS)

fuzz:
	cmake --preset asan -G Ninja
	cmake --build build/asan -j $(JOBS)
	tests/fuzz/long.sh build/asan

core bare aarch64:
	cmake --preset $@ -G Ninja
	cmake --build build/$@ -j $(JOBS)

clean:
	rm -rf build
