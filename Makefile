# Koda's tasks. `make` lists them.

.DEFAULT_GOAL := help
.PHONY: help build demo try test test-real bench doc fmt lint check-structure

help: ## list the tasks
	@echo "make TASK:"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'

build: ## build the library and put it where Neovim looks for it
	KODA_COMMIT=$$(git log -1 --format=%h --abbrev=12 -- rust Cargo.toml Cargo.lock 2>/dev/null) \
	  cargo build --release --locked --package koda-nvim
	scripts/install-lib

demo: build ## let the agent mend a scratch project, without a screen; MODEL=provider::model asks a real model
	scripts/demo $(MODEL)

try: build ## open the scratch project in Neovim with the chat open; MODEL=provider::model as above
	scripts/try $(MODEL)

test: build ## run all tests, in Neovim 0.11; ALL=1 adds 0.10 and 0.12, T=part runs the Rust tests of that name
	ALL=$(ALL) scripts/test $(T)

test-real: build ## run Koda against a real small model on llama.cpp's server; skipped, with the reason, where it can't be had
	scripts/test-real

bench: build ## measure, each number beside its baseline; ONLY=part measures the rows of that name
	python3 -B tests/bench/run.py $(ONLY)

doc: ## write the generated parts of doc/koda.txt
	$$(scripts/need-nvim) -l scripts/gen-doc.lua

fmt: ## format the Rust code
	cargo fmt --all

lint: ## check formats, and let clippy deny every warning
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- --deny warnings

check-structure: ## check the borders between crates and the sizes of files and functions
	scripts/check-structure
